#!/usr/bin/env bash
# Measures start, memory and zip of every function, compared with Node.js, and exits with 1 if one misses its target: a tenth of
# the start time, 40 MB of memory, 5 MB of zip. Needs Linux, openssl and gzip; npm for the comparison, which brings the pinned
# Node.js. Its files are in the target directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly target made=$target/cold-start
rm -rf "$made/node" "$made/bundles"
mkdir -p "$made/certificates" "$made/node" "$made/bundles"

# The functions alone, as deployed: other packages would enable the embedded engine.
packages=()
for manifest in functions/*/Cargo.toml; do packages+=(-p "$(basename "$(dirname "$manifest")")"); done
# functions/.cargo/config.toml has their profile.
(cd functions && cargo build --release --locked "${packages[@]}")

# The local table has a certificate of a generated authority. The functions read trusted authorities from SSL_CERT_FILE; the file also
# contains the system's, so that parsing costs as much as in AWS.
certificates() {
  local root system
  openssl ecparam -name prime256v1 -genkey -noout -out root.key
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out localhost.key
  openssl req -x509 -new -key root.key -subj '/CN=Funil tests' -days 30 -out root.pem
  openssl req -new -key localhost.key -subj '/CN=localhost' -out localhost.csr
  openssl x509 -req -in localhost.csr -CA root.pem -CAkey root.key -CAcreateserial -days 30 -out localhost.pem \
    -extfile <(printf 'subjectAltName=DNS:localhost\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n')
  for system in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem; do
    if [ -r "$system" ]; then break; fi
  done
  cat root.pem "$system" >all-roots.pem
  printf 'authorities that the functions read: %d\n' "$(grep -c 'BEGIN CERTIFICATE' all-roots.pem)"
}
(cd "$made/certificates" && certificates 2>openssl.log) || { cat "$made/certificates/openssl.log" >&2; exit 1; }

# The usual optimum: one minified file per function and client of the table, without unused code.
bundles() {
  local file client
  cp -r tests/cold-start/node/. "$made/node"
  (
    cd "$made/node"
    npm ci --loglevel=error --no-audit --no-fund
    for client in sdk signer; do
      for file in *.mjs; do
        npx --no-install esbuild "$file" --bundle --minify --tree-shaking=true --platform=node --target=node24 "--alias:client=./lib/$client.mjs" \
          --format=cjs --main-fields=module,main --log-level=warning --outfile="$made/bundles/$client/${file%.mjs}.js"
      done
    done
  )
}
compared=()
if command -v npm >/dev/null; then
  bundles
  # The pinned one, as another is not what AWS runs.
  node=$made/node/node_modules/node/bin/node
  printf 'Node.js %s\n' "$("$node" --version)"
  compared=("node=$node" "bundles=$made/bundles")
else
  echo 'npm is not installed: the functions are measured alone'
fi

# The measuring program and the engine are built like the tests; their overhead affects both sides.
cargo test --quiet --locked --workspace --bench cold -- \
  "functions=$target/release" "certificates=$made/certificates" ${compared[@]+"${compared[@]}"}
