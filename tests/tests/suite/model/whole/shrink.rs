//! Shrinks a failing sequence of operations by delta debugging.

/// Maximum number of tried sequences. Failures that need many operations are not worth more.
const TRIES: u32 = 400;

/// The shortest failing sequence found. If the tries sufficed, no single operation can be removed.
pub async fn shrink<T: Clone>(mut ops: Vec<T>, fails: impl AsyncFn(&[T]) -> bool) -> Vec<T> {
    let (mut size, mut tries) = (ops.len().div_ceil(2), 0);
    while size > 0 {
        let mut from = 0;
        while from < ops.len() && tries < TRIES {
            tries += 1;
            let until = ops.len().min(from + size);
            let rest = [&ops[..from], &ops[until..]].concat();
            if fails(&rest).await {
                ops = rest;
            } else {
                from = until;
            }
        }
        size /= 2;
    }
    ops
}

/// A failure by three operations in order is shrunk to these three.
#[tokio::test]
async fn shrinking_leaves_the_required_operations() {
    let fails = async |ops: &[u32]| {
        let mut wanted = [3, 141, 592].into_iter().peekable();
        for op in ops {
            wanted.next_if_eq(op);
        }
        wanted.next().is_none()
    };
    assert_eq!(shrink((0..1000).collect(), fails).await, [3, 141, 592]);
    assert_eq!(
        shrink(vec![7; 9], async |ops: &[u32]| ops.len() > 2).await,
        [7; 3]
    );
}
