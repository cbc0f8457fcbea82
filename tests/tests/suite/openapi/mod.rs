//! openapi.yaml: it declares the routes of template.yaml correctly and precisely. [`World`](tests::World)
//! validates every response of all end-to-end tests against it.

mod bodies;
mod breaches;
mod credentials;
mod examples;
mod operations;
mod schemas;
