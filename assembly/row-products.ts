// Products and updates of one row, for kernels of row mode.
// The loops over non-zeros walk addresses, four entries a turn: values are converted and multiplied
// in pairs, sums keep the order of the entries.

// @ts-ignore: decorator
@inline
export function at(base: usize, index: i32): usize {
  return base + ((<usize>index) << 3);
}

// @ts-ignore: decorator
@inline
export function dot(first: i32, last: i32, indices: usize, values: usize, weights: usize, start: f64): f64 {
  let u = start;
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  while (index < lastFour) {
    const near = f64x2.mul(
      v128.load64_lane(at(weights, load<i32>(index, 4)), v128.load64_zero(at(weights, load<i32>(index))), 1),
      f64x2.promote_low_f32x4(v128.load64_zero(value)),
    );
    const far = f64x2.mul(
      v128.load64_lane(at(weights, load<i32>(index, 12)), v128.load64_zero(at(weights, load<i32>(index, 8))), 1),
      f64x2.promote_low_f32x4(v128.load64_zero(value, 8)),
    );
    u += f64x2.extract_lane(near, 0);
    u += f64x2.extract_lane(near, 1);
    u += f64x2.extract_lane(far, 0);
    u += f64x2.extract_lane(far, 1);
    index += 16;
    value += 16;
  }
  while (index < end) {
    u += load<f64>(at(weights, load<i32>(index))) * <f64>load<f32>(value);
    index += 4;
    value += 4;
  }
  return u;
}

// @ts-ignore: decorator
@inline
export function addTo(address: usize, value: f64): void {
  store<f64>(address, load<f64>(address) + value);
}

// @ts-ignore: decorator
@inline
export function update(first: i32, last: i32, indices: usize, values: usize, target: usize, delta: f64): void {
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  const deltas = f64x2.splat(delta);
  while (index < lastFour) {
    const near = f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value)));
    const far = f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value, 8)));
    addTo(at(target, load<i32>(index)), f64x2.extract_lane(near, 0));
    addTo(at(target, load<i32>(index, 4)), f64x2.extract_lane(near, 1));
    addTo(at(target, load<i32>(index, 8)), f64x2.extract_lane(far, 0));
    addTo(at(target, load<i32>(index, 12)), f64x2.extract_lane(far, 1));
    index += 16;
    value += 16;
  }
  while (index < end) {
    addTo(at(target, load<i32>(index)), delta * <f64>load<f32>(value));
    index += 4;
    value += 4;
  }
}

// @ts-ignore: decorator
@inline
function pulled(pull: usize, j: i32, hot: i32): usize {
  return at(pull, j < hot ? j : hot);
}

// The same where a change counts pull[min(j, hot)] times in column j.
// @ts-ignore: decorator
@inline
export function updatePulled(
  first: i32, last: i32, indices: usize, values: usize, target: usize, delta: f64, pull: usize, hot: i32,
): void {
  let index = indices + ((<usize>first) << 2);
  let value = values + ((<usize>first) << 2);
  const end = indices + ((<usize>last) << 2);
  const lastFour = end - 12;
  const deltas = f64x2.splat(delta);
  while (index < lastFour) {
    const a = load<i32>(index);
    const b = load<i32>(index, 4);
    const c = load<i32>(index, 8);
    const d = load<i32>(index, 12);
    const near = f64x2.mul(
      f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value))),
      v128.load64_lane(pulled(pull, b, hot), v128.load64_zero(pulled(pull, a, hot)), 1),
    );
    const far = f64x2.mul(
      f64x2.mul(deltas, f64x2.promote_low_f32x4(v128.load64_zero(value, 8))),
      v128.load64_lane(pulled(pull, d, hot), v128.load64_zero(pulled(pull, c, hot)), 1),
    );
    addTo(at(target, a), f64x2.extract_lane(near, 0));
    addTo(at(target, b), f64x2.extract_lane(near, 1));
    addTo(at(target, c), f64x2.extract_lane(far, 0));
    addTo(at(target, d), f64x2.extract_lane(far, 1));
    index += 16;
    value += 16;
  }
  while (index < end) {
    const j = load<i32>(index);
    addTo(at(target, j), delta * <f64>load<f32>(value) * load<f64>(pulled(pull, j, hot)));
    index += 4;
    value += 4;
  }
}
