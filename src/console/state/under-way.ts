/** Requests under way. Readers that need the same one share it. */

interface SharedRequest {
  readonly response: Promise<unknown>;
  readonly abort: AbortController;
  readers: number;
}

const underWay = new Map<string, SharedRequest>();

/**
 * Joins the request with this key, or sends it if none is under way. `signal` is the reader's own: a reader that no
 * longer needs the response leaves, and the last one that leaves aborts the request.
 */
export async function shared<T>(
  key: string,
  send: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const request = underWay.get(key) ?? begin(key, send);
  request.readers += 1;
  return await new Promise<T>((resolve, reject) => {
    const leave = () => {
      request.readers -= 1;
      if (request.readers === 0) {
        end(key, request);
        request.abort.abort();
      }
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    (request.response as Promise<T>).then(resolve, reject);
  });
}

function begin(key: string, send: (signal: AbortSignal) => Promise<unknown>): SharedRequest {
  const abort = new AbortController();
  const request = { response: send(abort.signal), abort, readers: 0 };
  underWay.set(key, request);
  const done = () => end(key, request);
  request.response.then(done, done);
  return request;
}

function end(key: string, request: SharedRequest): void {
  if (underWay.get(key) === request) underWay.delete(key);
}

/** From now on, requests are sent again: the data has changed, or the caller has. */
export const forgetUnderWay = (): void => underWay.clear();
