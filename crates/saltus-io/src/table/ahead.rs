//! Parts of a file that several threads make ahead of the one that writes them.

use std::io;
use std::sync::mpsc::sync_channel;

/// Makes parts 0, 1, … on so many threads and takes them in this order. There are never more of them in memory than threads, and one.
pub fn in_order<T: Send>(
    threads: usize,
    count: usize,
    make: impl Fn(usize) -> io::Result<T> + Sync,
    mut take: impl FnMut(T) -> io::Result<()>,
) -> io::Result<()> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).try_for_each(|k| take(make(k)?));
    }
    std::thread::scope(|scope| {
        let makers: Vec<_> = (0..threads)
            .map(|first| {
                let (send, receive) = sync_channel(0);
                let make = &make;
                // (It ends where nobody takes its parts any more.)
                scope.spawn(move || (first..count).step_by(threads).all(|k| send.send(make(k)).is_ok()));
                receive
            })
            .collect();
        (0..count).try_for_each(|k| {
            let made = makers[k % threads].recv().map_err(|_| io::Error::other("a part of the file is missing"))?;
            take(made?)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_their_order_and_the_first_error_ends_everything() {
        for (threads, count) in [(1, 9), (4, 9), (4, 3), (3, 1), (2, 0)] {
            let mut taken = Vec::new();
            let slow_first = |k: usize| {
                std::thread::sleep(std::time::Duration::from_micros(if k.is_multiple_of(4) { 300 } else { 0 }));
                Ok(10 * k)
            };
            let all = in_order(threads, count, slow_first, |part| {
                taken.push(part);
                Ok(())
            });
            assert!(all.is_ok());
            assert_eq!(taken, (0..count).map(|k| 10 * k).collect::<Vec<_>>());
        }
        let mut taken = 0;
        let fails = |k: usize| if k == 5 { Err(io::Error::other("five")) } else { Ok(k) };
        let failed = in_order(3, 100, fails, |_| {
            taken += 1;
            Ok(())
        });
        assert_eq!((taken, failed.expect_err("an error").to_string()), (5, "five".to_string()));
        let full = in_order(3, 100, Ok, |k| if k == 7 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) });
        assert_eq!(full.expect_err("an error").kind(), io::ErrorKind::StorageFull);
    }
}
