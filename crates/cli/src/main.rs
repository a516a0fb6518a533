//! merganser
fn main() {}
