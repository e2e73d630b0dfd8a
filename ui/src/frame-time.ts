/**
 * Milliseconds that the page's own thread spends on the next frame, without the wait for it: a
 * message that is sent in a frame arrives when the frame has been drawn.
 */
export function nextFrameTime(): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const start = performance.now();
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => {
        resolve(performance.now() - start);
        port1.close();
      });
      port1.start();
      port2.postMessage(undefined);
    });
  });
}
