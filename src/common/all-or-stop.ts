/**
 * Waits for several pieces of work. If one fails, the others are stopped (they watch the signal of `stop`) and waited
 * for, because none may write to a sink after its gathering has ended.
 */
export async function allOrStop<Results extends readonly Promise<unknown>[]>(
  stop: AbortController,
  work: readonly [...Results],
): Promise<{ [Index in keyof Results]: Awaited<Results[Index]> }> {
  try {
    return await Promise.all(work);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(work);
    throw error;
  }
}
