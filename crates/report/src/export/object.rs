//! Objects with named fields, for serde.

/// Creates an object that serde serializes with these fields, in this order.
macro_rules! object {
    ($($(#[$attribute:meta])* $field:ident: $value:expr),* $(,)?) => {{
        #[allow(non_camel_case_types)]
        let object = {
            #[derive(serde::Serialize)]
            struct Object<$($field),*> {
                $($(#[$attribute])* $field: $field),*
            }
            Object { $($field: $value),* }
        };
        object
    }};
}

pub(super) use object;
