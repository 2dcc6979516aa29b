/**
 * Bounds how many heavy reads run at once in this process, so that they slow each other down and not everything else: the engine
 * shares its cores among all that runs, and four aggregations side by side take as long as four in turn.
 *
 * The others wait in line, for a while. A tenant cannot take all places, neither of those that run nor of those that wait, and of
 * those that wait the next is of the tenant with the fewest running.
 */

export interface AdmissionLimits {
  /** Heavy reads at once. */
  readonly running: number;
  /** Those that wait beside them; 0 turns away whoever finds no place. */
  readonly waiting: number;
  /** Milliseconds that one waits at most. */
  readonly patience: number;
  /** Several tenants share the places. */
  readonly shared: boolean;
}

export interface Load {
  readonly running: number;
  readonly waiting: number;
}

export interface Admission {
  /**
   * Waits for a place; the answer gives it back, once and for all. Throws TooBusyError when the line is full or time is up, and the
   * signal's reason when that aborts: then nothing waits any more.
   */
  enter(tenantName: string, signal: AbortSignal): Promise<() => void>;
  /** Whether somebody in line would come in if this tenant gave a place back. */
  isWanted(tenantName: string): boolean;
}

/** Too many heavy reads for another one. */
export class TooBusyError extends Error {
  override readonly name = "TooBusyError";
}

interface Waiting {
  readonly tenantName: string;
  readonly admit: () => void;
}

/** `onLoad` is told of every change, and of the start. */
export function createAdmission(limits: AdmissionLimits, onLoad: (load: Load) => void): Admission {
  /** Running ones by tenant; none is 0. */
  const running = new Map<string, number>();
  /** The one that has waited longest first. */
  const line = new Set<Waiting>();
  const most = { running: shareOf(limits.running, limits), waiting: shareOf(limits.waiting, limits) };

  const runningOf = (tenantName: string) => running.get(tenantName) ?? 0;
  const tell = () => onLoad({ running: allRunning(), waiting: line.size });
  const allRunning = () => [...running.values()].reduce((sum, each) => sum + each, 0);
  const isFree = (tenantName: string) =>
    allRunning() < limits.running && runningOf(tenantName) < most.running;

  function take(tenantName: string): () => void {
    running.set(tenantName, runningOf(tenantName) + 1);
    tell();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = runningOf(tenantName) - 1;
      if (left > 0) running.set(tenantName, left);
      else running.delete(tenantName);
      tell();
      admitNext();
    };
  }

  function admitNext(): void {
    const [next] = [...line]
      .filter(({ tenantName }) => isFree(tenantName))
      .sort((one, other) => runningOf(one.tenantName) - runningOf(other.tenantName));
    next?.admit();
  }

  function isFull(tenantName: string): boolean {
    const own = [...line].filter((each) => each.tenantName === tenantName).length;
    return line.size >= limits.waiting || own >= most.waiting;
  }

  function wait(tenantName: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        tell();
      };
      const stop = () => {
        leave();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new TooBusyError(`no place for a heavy read of ${tenantName} in ${limits.patience} ms`));
      }, limits.patience);
      const waiting: Waiting = {
        tenantName,
        admit: () => {
          leave();
          resolve(take(tenantName));
        },
      };
      line.add(waiting);
      tell();
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  tell();
  return {
    async enter(tenantName, signal) {
      signal.throwIfAborted();
      // Nobody in line is overtaken: while a place is free for this tenant, none of its own requests waits.
      if (isFree(tenantName)) return take(tenantName);
      if (isFull(tenantName)) throw new TooBusyError(`too many heavy reads of ${tenantName} are waiting`);
      return await wait(tenantName, signal);
    },
    isWanted(giving) {
      const others = (tenantName: string) => runningOf(tenantName) - (tenantName === giving ? 1 : 0);
      return [...line].some(({ tenantName }) => others(tenantName) < most.running);
    },
  };
}

/** What one tenant may have of so many: a quarter, and at least one, is left to the others. */
function shareOf(places: number, { shared }: AdmissionLimits): number {
  return shared && places > 1 ? Math.floor(places * 0.75) : places;
}
