/**
 * `parlance user`: manages users in the data folder or database. A running server sees changes immediately.
 */
import { nameProblem } from '@parlance/server/users';
import { CommandError } from './command-error.ts';
import { parseFlags, STORAGE_FLAGS, TEXT } from './flags.ts';
import { printStderr } from './stderr.ts';
import { openConfigured } from './storage.ts';
import { USER_COMMANDS, type UserCommand } from './user-commands.ts';

const USAGE = `Usage: parlance user COMMAND [--data FOLDER | --database URL]

  add NAME [--role user|developer|admin] [--password PASSWORD]
  list
  password NAME [--password PASSWORD]
  role NAME --role user|developer|admin
  logout NAME
  remove NAME

password, role, logout and remove revoke all tokens of the user, and a running server
closes their connections.

A password has at least 8 characters.

Without --password it is prompted for, or read from standard input. Other users of the
machine can see a password on the command line.`;

function checked(word: string, names: readonly string[], given: readonly string[]): [UserCommand, string] {
  const command = USER_COMMANDS.get(word);
  if (command === undefined)
    throw new CommandError(`unknown command "user ${word}" (${[...USER_COMMANDS.keys()].join(', ')})`, 2);
  const flag = given.find((name) => !['data', 'config', 'database', ...command.flags].includes(name));
  if (flag !== undefined) throw new CommandError(`user ${word} takes no --${flag}`, 2);
  const [name = '', extra] = names;
  if (!command.takesName && names.length > 0) throw new CommandError(`user ${word} takes no name`, 2);
  if (command.takesName && name === '') throw new CommandError(`user ${word} needs a name`, 2);
  if (extra !== undefined) throw new CommandError(`user ${word} takes only one name`, 2);
  const problem = command.takesName ? nameProblem(name) : null;
  if (problem !== null) throw new CommandError(problem, 2);
  return [command, name];
}

export async function user(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...STORAGE_FLAGS, role: TEXT, password: TEXT });
  const [word, ...names] = positionals;
  if (values.help || word === undefined) {
    (values.help ? console.log : printStderr)(USAGE);
    return values.help ? 0 : 2;
  }
  const [command, name] = checked(word, names, Object.keys(values));
  const store = await openConfigured(values, command.create);
  try {
    console.log(await command.run(store, name, values));
  } finally {
    await store.close();
  }
  return 0;
}
