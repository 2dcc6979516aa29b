/**
 * The run's lease expired or another worker took it, so nothing that the run does from now on may become visible. The
 * error ends the run. Neither the tenant nor its upstream is at fault.
 */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(epoch: number, how = "another worker has taken the tenant over") {
    super(`lease ${epoch} was lost: ${how}`);
  }
}
