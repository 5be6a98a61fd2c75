/** The names in a chain of models such as `gpt-5.5, claude-opus-4-7`, as written. */
export const namesOfChain = (chain: string): [string, ...string[]] =>
  chain.split(',').map((name) => name.trim()) as [string, ...string[]];
