/** Detects renewed certificates by reading their files every few seconds. Open connections keep the old certificate. */
import { setTimeout as delay } from "node:timers/promises";
import { type Certificate, readCertificate, type TlsFiles } from "./certificate.js";

export interface Renewal {
  /** Checks the files now. */
  check(): Promise<void>;
  stop(): void;
}

export interface RenewalOptions {
  readonly settings: TlsFiles;
  /** Section of the configuration for messages, such as `api.tls`. */
  readonly section: string;
  /** The certificate in use at the start. */
  readonly current: Certificate;
  /** Called with each renewed certificate. */
  readonly use: (renewed: Certificate) => void;
  /** Called once for each problem in a row. The previous certificate stays in use. */
  readonly onProblem: (message: string) => void;
  readonly everyMs?: number;
}

/**
 * Compares contents rather than modification times, which do not change if symbolic links are replaced (Kubernetes,
 * certbot). A half-written file, or a pair with only one new file, is a problem that the next check may find fixed.
 */
export function watchCertificate(options: RenewalOptions): Renewal {
  const { settings, section, use, onProblem, everyMs = 10_000 } = options;
  const stopping = new AbortController();
  let { cert, key } = options.current.options;
  let problem: string | undefined;
  let checks = Promise.resolve();

  async function read(): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      const renewed = await readCertificate(settings, section);
      const { options } = renewed;
      problem = undefined;
      if (stopping.signal.aborted || (options.cert === cert && options.key === key)) return;
      use(renewed);
      ({ cert, key } = options);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== problem) onProblem(message);
      problem = message;
    }
  }

  /** A caller during a check gets the next check, which begins afterwards. */
  function check(): Promise<void> {
    checks = checks.then(read);
    return checks;
  }

  void (async () => {
    while (!stopping.signal.aborted) {
      await delay(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      await check();
    }
  })();
  return { check, stop: () => stopping.abort() };
}
