#!/usr/bin/env bash
# Measures start and memory of every built function beside the same endpoint on Node.js, and holds them to what is
# promised: a start takes at most a tenth, a function at most 40 MB of memory and 3.5 MB to deploy. Needs Linux, openssl and
# gzip. Without Node.js and npm the functions are measured alone. What it makes stays in the target directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly target made=$target/cold-start
mkdir -p "$made/certificates" "$made/node" "$made/bundles"

# Each function alone, as it is deployed: without the embedded engine, which other packages would bring in.
packages=()
for manifest in functions/*/Cargo.toml; do packages+=(-p "$(basename "$(dirname "$manifest")")"); done
cargo build --release --locked "${packages[@]}"

# The table's host on this machine has a certificate of an authority of our own. The functions read whom to trust from the
# file that SSL_CERT_FILE names, as they read the system's: so this one holds the system's too, and costs as much to read.
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

# The usual best: one minified file a function, with nothing in it that is not called.
bundles() {
  local file
  cp -r tests/cold-start/node/. "$made/node"
  (
    cd "$made/node"
    npm ci --loglevel=error --no-audit --no-fund
    for file in *.mjs; do
      npx --no-install esbuild "$file" --bundle --minify --tree-shaking=true --platform=node --target=node20 \
        --format=cjs --main-fields=module,main --log-level=warning --outfile="$made/bundles/${file%.mjs}.js"
    done
  )
}
compared=()
if node=$(command -v node) && command -v npm >/dev/null; then
  printf 'Node.js %s\n' "$(node --version)"
  bundles
  compared=("node=$node" "bundles=$made/bundles")
else
  echo 'Node.js or npm is not installed: the functions are measured alone'
fi

# The measuring program and the table's engine are those of the tests, hardly optimised: what that costs, it costs both.
cargo test --quiet --locked --workspace --bench cold -- \
  "functions=$target/release" "certificates=$made/certificates" ${compared[@]+"${compared[@]}"}
