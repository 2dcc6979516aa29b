/** Notices that a certificate was renewed: its files are read again every few seconds. Connections that there are keep the old one. */
import { setTimeout as delay } from "node:timers/promises";
import type { TlsSettings } from "../config/tls.js";
import { type Certificate, readCertificate } from "./certificate.js";

export interface Renewal {
  /** Looks now. */
  look(): Promise<void>;
  stop(): void;
}

export interface RenewalOptions {
  readonly settings: TlsSettings;
  /** For messages: `api.tls`. */
  readonly section: string;
  /** What is served now. */
  readonly current: Certificate;
  /** Called with each new certificate. */
  readonly use: (renewed: Certificate) => void;
  /** Called once for each problem in a row: the certificate of before is served on. */
  readonly onProblem: (message: string) => void;
  readonly everyMs?: number;
}

/**
 * By content, not by the times of files, which links that are set anew (Kubernetes, certbot) need not change. A file that is
 * half written, or of which only one is new, is a problem that the next look may find mended.
 */
export function watchCertificate(options: RenewalOptions): Renewal {
  const { settings, section, use, onProblem, everyMs = 10_000 } = options;
  const stopping = new AbortController();
  let { cert, key } = options.current.options;
  let problem: string | undefined;
  let looks = Promise.resolve();

  async function read(): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      const found = await readCertificate(settings, section);
      const { options } = found;
      problem = undefined;
      if (stopping.signal.aborted || (options.cert === cert && options.key === key)) return;
      use(found);
      ({ cert, key } = options);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== problem) onProblem(message);
      problem = message;
    }
  }

  /** Whoever asks while a look is under way gets one that begins afterwards. */
  function look(): Promise<void> {
    looks = looks.then(read);
    return looks;
  }

  void (async () => {
    while (!stopping.signal.aborted) {
      await delay(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      await look();
    }
  })();
  return { look, stop: () => stopping.abort() };
}
