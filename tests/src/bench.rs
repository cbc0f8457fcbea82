//! Support of measurements: the cost of endpoints ([`uses`]), whose requests a [`desk`] sends to an instance with its [`stock`], a
//! [`wire`] records, and a [`bill`] breaks down by the rules of [`item`]; and [`ceiling`]s.

pub mod bill;
pub mod ceiling;
pub mod desk;
pub mod item;
pub mod stock;
pub mod uses;
pub mod wire;
