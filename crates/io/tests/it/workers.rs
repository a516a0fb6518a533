//! Tests of several workers: waiting, stopping, failing.

use crate::common::{Sums, naive, options, read_together};
use merganser_io::{Chunk, Input, Reader};
use merganser_run::run_workers;
use std::io::{self, Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A reader that returns the bytes that are sent to it, and waits for them.
struct Pipe(Mutex<Receiver<Vec<u8>>>, Cursor<Vec<u8>>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.1.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.0.lock().unwrap().recv() {
                Ok(bytes) => self.1 = Cursor::new(bytes),
                Err(_) => return Ok(0),
            }
        }
    }
}

fn pipe() -> (std::sync::mpsc::Sender<Vec<u8>>, Box<dyn Read + Send>) {
    let (sender, receiver) = channel();
    (sender, Box::new(Pipe(Mutex::new(receiver), Cursor::default())))
}

#[test]
fn slow_inputs_are_waited_for() {
    let (sender, input) = pipe();
    let reader = Reader::from_readers(vec![("pipe".into(), input)], options(10, 3, 3));
    let text = b">a\nACGTACGTTTGACAGATTACA\nACGATC\n>b\nAC\n";
    std::thread::scope(|scope| {
        let sums = scope.spawn(|| read_together(&reader, 3, 4));
        for piece in text.chunks(4) {
            std::thread::sleep(Duration::from_millis(2));
            sender.send(piece.to_vec()).unwrap();
        }
        drop(sender);
        assert_eq!(sums.join().unwrap().unwrap(), Sums::of(&naive(text), 4));
    });
}

/// Two inputs, each of which is ready only once both are being read: this ends only if workers read both at the
/// same time.
#[test]
fn two_streams_are_read_at_the_same_time() {
    struct Meet<'a>(&'a (Mutex<usize>, Condvar), bool, Cursor<Vec<u8>>);
    impl Read for Meet<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if !std::mem::replace(&mut self.1, true) {
                *self.0.0.lock().unwrap() += 1;
                self.0.1.notify_all();
                let waited = self.0.1.wait_timeout_while(
                    self.0.0.lock().unwrap(),
                    Duration::from_secs(300),
                    |met| *met < 2,
                );
                assert!(!waited.unwrap().1.timed_out(), "the other input is not read");
            }
            self.2.read(buffer)
        }
    }
    let meeting: &'static _ = Box::leak(Box::new((Mutex::new(0), Condvar::new())));
    let text = b">a\nACGT\n".repeat(100);
    let inputs = ["one", "two"].map(|name| {
        let input = Meet(meeting, false, Cursor::new(text.clone()));
        (name.to_owned(), Box::new(input) as Box<dyn Read + Send>)
    });
    let reader = Reader::from_readers(inputs.into(), options(64, 0, 2));
    let sums = read_together(&reader, 2, 4).unwrap();
    assert_eq!(sums.headers.len(), 200);
}

#[test]
fn stopping_wakes_those_who_wait() {
    let (sender, input) = pipe();
    let reader = Reader::from_readers(vec![("pipe".into(), input)], options(10, 3, 3));
    std::thread::scope(|scope| {
        let all = scope.spawn(|| {
            run_workers(3, |_| {
                let mut chunk = Chunk::default();
                while reader.next_chunk(&mut chunk)? {}
                Ok::<_, merganser_io::Error>(())
            })
        });
        std::thread::sleep(Duration::from_millis(20));
        reader.stop();
        // The worker that reads is waiting for the pipe.
        drop(sender);
        all.join().unwrap().unwrap();
    });
    assert!(!reader.next_chunk(&mut Chunk::default()).unwrap());
}

#[test]
fn a_failing_input_ends_all_workers() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 20 {
                return Err(io::Error::from_raw_os_error(5));
            }
            buffer[0] = b">A\n"[self.0.min(3) - 1];
            Ok(1)
        }
    }
    for _ in 0..20 {
        let input: Box<dyn Read + Send> = Box::new(Fails(0));
        let reader = Reader::from_readers(vec![("disk".into(), input)], options(2, 3, 3));
        let error = read_together(&reader, 3, 0).unwrap_err().to_string();
        assert_eq!(error, "disk: cannot read: input/output error");
    }
}

#[test]
fn a_panic_leaves_nobody_waiting() {
    struct Panics(usize);
    impl Read for Panics {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            assert!(self.0 < 300, "broken reader");
            buffer[0] = if self.0 == 1 { b'>' } else { b'\n' };
            Ok(1)
        }
    }
    let input: Box<dyn Read + Send> = Box::new(Panics(0));
    let reader = Reader::from_readers(vec![("x".into(), input)], options(2, 3, 3));
    let caught = catch_unwind(AssertUnwindSafe(|| read_together(&reader, 3, 0).is_ok()));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"broken reader"));
}

#[test]
fn more_inputs_than_may_be_open() {
    let dir = tempfile::tempdir().unwrap();
    let inputs: Vec<_> = (0..3000)
        .map(|number| {
            let path = dir.path().join(number.to_string());
            std::fs::write(&path, format!(">{number}\nACGT\n")).unwrap();
            Input::File(path)
        })
        .collect();
    let reader = Reader::open(&inputs, options(1 << 16, 3, 2)).unwrap();
    assert_eq!(read_together(&reader, 2, 4).unwrap().bases, 12_000);
}

#[test]
fn named_pipes_may_be_written_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| dir.path().join(name));
    for path in &paths {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    let inputs: Vec<_> = paths.iter().cloned().map(Input::File).collect();
    let writer = std::thread::spawn(move || {
        for path in paths {
            let mut file = std::fs::File::options().write(true).open(path).unwrap();
            file.write_all(&b">a\nACGT\n".repeat(20_000)).unwrap();
        }
    });
    let reader = Reader::open(&inputs, options(4096, 3, 2)).unwrap();
    assert_eq!(reader.bytes_total(), None);
    assert_eq!(read_together(&reader, 2, 4).unwrap().bases, 160_000);
    writer.join().unwrap();
}
