import { CommandFailed } from "./command.js";

/** Does what writes the file or folder that an option names. What the file system refuses is told as the option. */
export async function writing<Result>(
  option: string,
  path: string,
  write: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Error) || !("path" in error)) throw error;
    throw new CommandFailed(`--${option}: ${path} cannot be written: ${error.message}`, 1);
  }
}
