//! Enums whose values have names.

/// Gives an enum its names: `ALL` of it in the order in which people see them, the name of each, and how to find one.
#[macro_export]
macro_rules! names {
    ($type:ident, $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $type {
            /// Every one, in the order in which people see them.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name as people read and write it.
            pub const fn $name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.$name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.$name())
            }
        }
    };
}
