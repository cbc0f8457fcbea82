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
# Also for commands: docker exec CONTAINER funil instance list
ENV FUNIL_DATA=/data
EXPOSE 3000
ENTRYPOINT ["/usr/local/bin/funil"]
CMD ["serve", "--bind", "0.0.0.0"]
