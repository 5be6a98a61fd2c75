/** Commands with subcommands on a data folder or database: `parlance user` and `parlance key`. */
import { Role } from '@parlance/protocol';
import type { Storage } from '@parlance/server/storage';
import { CommandError, printStderr, showUsage } from '../command.ts';
import { openConfigured, type StorageFlags } from './storage.ts';

/** What a command prints; the note is for people. */
export type Output = string | { readonly out: string; readonly note: string };

type Subcommand<Flags> = {
  /** kind of argument; null if there is none */
  readonly argument: 'a name' | 'an id' | null;
  readonly flags: readonly string[];
  /** whether it may create a data folder */
  readonly create?: boolean;
  readonly run: (store: Storage, argument: string, flags: Flags) => Promise<Output>;
};

type StoreCommand<Flags> = {
  readonly name: string;
  readonly usage: string;
  /** what its arguments are called */
  readonly noun: string;
  /** Why the argument is refused; null if it is not. */
  readonly problemWith?: (argument: string) => string | null;
  readonly subcommands: Readonly<Record<string, Subcommand<Flags>>>;
};

type Parsed<Flags> = {
  readonly values: Flags & StorageFlags & { readonly help?: boolean | undefined };
  readonly positionals: readonly string[];
};

/** Returns the exit code. */
export async function runStoreCommand<Flags extends object>(
  command: StoreCommand<Flags>,
  { values, positionals }: Parsed<Flags>,
): Promise<number> {
  const [word, argument = '', extra] = positionals;
  if (values.help || word === undefined) return showUsage(command.usage, values.help);
  const { name, noun, subcommands, problemWith = () => null } = command;
  const known = Object.keys(subcommands);
  const subcommand = known.includes(word) ? subcommands[word] : undefined;
  if (!subcommand) throw new CommandError(`unknown command "${name} ${word}" (${known.join(', ')})`, 2);
  const flags = ['data', 'config', 'database', ...subcommand.flags];
  const refuse = (problem: string) => {
    throw new CommandError(`${name} ${word} ${problem}`, 2);
  };
  const flag = Object.keys(values).find((given) => !flags.includes(given));
  if (flag !== undefined) refuse(`takes no --${flag}`);
  if (subcommand.argument === null && positionals.length > 1) refuse(`takes no ${noun}`);
  if (subcommand.argument !== null && argument === '') refuse(`needs ${subcommand.argument}`);
  if (extra !== undefined) refuse(`takes only one ${noun}`);
  const problem = subcommand.argument === null ? null : problemWith(argument);
  if (problem !== null) throw new CommandError(problem, 2);
  const store = await openConfigured(values, subcommand.create);
  try {
    const output = await subcommand.run(store, argument, values);
    if (typeof output === 'string') console.log(output);
    else {
      console.log(output.out);
      printStderr(output.note);
    }
  } finally {
    await store.close();
  }
  return 0;
}

export function roleFrom(text: string): Role {
  const role = Role.safeParse(text);
  if (role.success) return role.data;
  throw new CommandError(`--role must be one of ${Role.options.join(', ')}, not "${text}"`, 2);
}
