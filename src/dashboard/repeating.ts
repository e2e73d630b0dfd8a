/**
 * Does something again and again, until the returned function is called. It neither keeps the
 * process alive nor ends it: training may go on beside it.
 */
export function repeat(
  milliseconds: number,
  action: () => void,
  onFailure: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => attempt(action, onFailure), milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

export function attempt(action: () => void, onFailure: (error: unknown) => void): void {
  try {
    action();
  } catch (error) {
    onFailure(error);
  }
}
