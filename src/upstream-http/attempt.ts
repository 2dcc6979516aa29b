/** One request and its answer, with timeouts and a limit on the size of what comes back. No retries, no redirects. */
import type { Agent as HttpAgent, IncomingHttpHeaders } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import got, { type PlainResponse, RequestError, TimeoutError } from "got";

export interface AttemptRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>> | undefined;
  readonly connectTimeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxBytes: number;
  readonly condense: (() => Condenser) | undefined;
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
}

/** Makes something short of a body as it comes, so that a large one need not be held. */
export interface Condenser {
  add(bytes: Buffer): void;
  end(): Buffer;
}

export type AttemptOutcome =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  | { readonly kind: "too_large" }
  | { readonly kind: "timeout"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Of an answer that is an error, no more than this is read. */
const LONGEST_ERROR_BYTES = 65_536;

/** Throws only what the signal was aborted with. */
export async function attempt(request: AttemptRequest, signal: AbortSignal): Promise<AttemptOutcome> {
  const { connectTimeoutMs } = request;
  const stream = got.stream(request.url, {
    method: request.method,
    headers: request.headers,
    ...(request.form === undefined ? {} : { form: request.form }),
    agent: request.agents,
    signal,
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      request: request.attemptTimeoutMs,
    },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: true,
  });
  let response: PlainResponse | undefined;
  stream.once("response", (received: PlainResponse) => {
    response = received;
  });
  try {
    const chunks: Buffer[] = [];
    const condenser = request.condense?.();
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length; // after decompression: a small answer can unfold to a large one
      const failed = response !== undefined && response.statusCode >= 300;
      if (size > request.maxBytes && !failed) return { kind: "too_large" };
      if (condenser === undefined || failed) chunks.push(chunk);
      else condenser.add(chunk);
      if (failed && size > LONGEST_ERROR_BYTES) break;
    }
    if (response === undefined)
      return { kind: "unreachable", reason: "the connection ended without a response" };
    return {
      kind: "answer",
      status: response.statusCode,
      headers: response.headers,
      body: condenser === undefined || response.statusCode >= 300 ? Buffer.concat(chunks) : condenser.end(),
    };
  } catch (error) {
    signal.throwIfAborted();
    return failure(error);
  } finally {
    stream.destroy();
  }
}

/** The library's messages hold neither address nor headers, but its error objects do: only words of ours go on. */
function failure(error: unknown): AttemptOutcome {
  if (error instanceof TimeoutError)
    return { kind: "timeout", reason: `no response in time (${error.event})` };
  const code = error instanceof RequestError ? error.code : undefined;
  if (code === "ETIMEDOUT") return { kind: "timeout", reason: "no connection in time" };
  return { kind: "unreachable", reason: `cannot be reached (${code ?? "unknown cause"})` };
}
