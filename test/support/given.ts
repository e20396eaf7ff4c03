/** Options without those that a test takes away by giving undefined, which is a mistake in an application. */
export function given<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}
