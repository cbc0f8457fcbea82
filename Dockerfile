# `funil serve` in a container: docker build -t funil . && docker run -p 3000:3000 -v funil:/data funil
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked && install -d -m 700 /empty

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/release/funil /usr/local/bin/funil
# A new volume takes the owner and mode of this directory.
COPY --from=build --chown=nonroot:nonroot /empty /data
VOLUME /data
EXPOSE 3000
ENTRYPOINT ["/usr/local/bin/funil"]
# The engine's DynamoDB API stays closed: without a key it is unauthenticated.
CMD ["serve", "--data", "/data", "--bind", "0.0.0.0", "--dynamodb-port", "none"]
