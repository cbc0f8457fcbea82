//! Enumerations of kinds by name.

/// Declares an enumeration with a name for each variant.
macro_rules! named {
    ($(#[$attribute:meta])* $enumeration:ident { $($variant:ident $name:literal),* $(,)? }) => {
        $(#[$attribute])*
        #[expect(missing_docs, reason = "the names are those of the records")]
        pub enum $enumeration { $($variant),* }

        impl $enumeration {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name, as in a line of an import.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The kind with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}
pub(crate) use named;
