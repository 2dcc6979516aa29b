/** A promise that a test settles itself. */
export function promise(): [Promise<void>, () => void] {
  let settle = () => {};
  return [
    new Promise<void>((resolve) => {
      settle = resolve;
    }),
    () => settle(),
  ];
}
