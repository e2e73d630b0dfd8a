// Element access by base address and index. Every array a kernel sees is in one linear memory.

// @ts-ignore: decorator
@inline
export function int(base: usize, index: i32): i32 {
  return load<i32>(base + ((<usize>index) << 2));
}

// @ts-ignore: decorator
@inline
export function setInt(base: usize, index: i32, value: i32): void {
  store<i32>(base + ((<usize>index) << 2), value);
}

// @ts-ignore: decorator
@inline
export function float(base: usize, index: i32): f64 {
  return <f64>load<f32>(base + ((<usize>index) << 2));
}

// @ts-ignore: decorator
@inline
export function double(base: usize, index: i32): f64 {
  return load<f64>(base + ((<usize>index) << 3));
}

// @ts-ignore: decorator
@inline
export function setDouble(base: usize, index: i32, value: f64): void {
  store<f64>(base + ((<usize>index) << 3), value);
}

// @ts-ignore: decorator
@inline
export function addDouble(base: usize, index: i32, value: f64): void {
  const at = base + ((<usize>index) << 3);
  store<f64>(at, load<f64>(at) + value);
}

// @ts-ignore: decorator
@inline
export function byte(base: usize, index: i32): i32 {
  return <i32>load<u8>(base + <usize>index);
}

// @ts-ignore: decorator
@inline
export function setByte(base: usize, index: i32, value: i32): void {
  store<u8>(base + <usize>index, <u8>value);
}
