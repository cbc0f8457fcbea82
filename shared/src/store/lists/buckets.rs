//! Counts of neighbouring records, such as those of a day. They locate an offset without reading what is before it.

/// The bucket of the record with `offset` others before it, and how many of those are in this bucket. `Err` with the rest
/// of the offset if the buckets count no such record. A negative count, which concurrent changes cause, is none.
pub fn locate<B>(buckets: impl IntoIterator<Item = (B, i64)>, offset: u64) -> Result<(B, u64), u64> {
    let mut rest = offset;
    for (bucket, count) in buckets {
        let count = u64::try_from(count).unwrap_or_default();
        if rest < count {
            return Ok((bucket, rest));
        }
        rest -= count;
    }
    Err(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_located() {
        let buckets = || [('a', 2), ('b', 0), ('c', -1), ('d', 3)];
        for (offset, expected) in [
            (0, Ok(('a', 0))),
            (1, Ok(('a', 1))),
            (2, Ok(('d', 0))),
            (4, Ok(('d', 2))),
            (5, Err(0)),
            (9, Err(4)),
        ] {
            assert_eq!(locate(buckets(), offset), expected, "{offset}");
        }
    }
}
