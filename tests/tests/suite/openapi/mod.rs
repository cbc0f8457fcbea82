//! openapi.yaml: it has the routes of template.yaml, says of each what is so, and can be relied on. (That every answer is one
//! that it declares is asked by [`World`](tests::World) of all end-to-end tests.)

mod bodies;
mod breaches;
mod credentials;
mod examples;
mod operations;
mod schemas;
