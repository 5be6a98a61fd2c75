/**
 * `parlance key`: manages API keys in the data folder or database. A running server sees changes immediately.
 */
import { CommandError } from './command-error.ts';
import { parseFlags, STORAGE_FLAGS, SWITCH, TEXT } from './flags.ts';
import { KEY_COMMANDS, type KeyCommand } from './key-commands.ts';
import { printStderr } from './stderr.ts';
import { openConfigured } from './storage.ts';

const USAGE = `Usage: parlance key COMMAND [--data FOLDER | --database URL]

  add NAME [--user USER] [--role user|developer|admin] [--dialect NAME]... [--expires 90d|DATE]
      [--administration]
  list [--user USER]
  revoke ID

A key acts as its user: send it as "Authorization: Bearer KEY", "x-api-key: KEY" or "?token=KEY".
add prints it once; only a hash of it is stored. --user can be left out if there is only one.
--role limits what the key grants, which is never more than the user's own role. --dialect
limits the key to some client protocols, and can be repeated. --administration lets a key of an
admin manage users, passwords, origins and MCP servers, which otherwise needs a login: whoever has
such a key can give themselves access that lasts after it is revoked.

A running server closes what is connected with a revoked key, within half a second.`;

function checked(word: string, given: readonly string[], flags: readonly string[]): [KeyCommand, string] {
  const command = KEY_COMMANDS.get(word);
  if (command === undefined)
    throw new CommandError(`unknown command "key ${word}" (${[...KEY_COMMANDS.keys()].join(', ')})`, 2);
  const flag = flags.find((name) => !['data', 'config', 'database', ...command.flags].includes(name));
  if (flag !== undefined) throw new CommandError(`key ${word} takes no --${flag}`, 2);
  const [argument = '', extra] = given;
  if (command.argument === null && given.length > 0)
    throw new CommandError(`key ${word} takes no argument`, 2);
  if (command.argument !== null && argument === '')
    throw new CommandError(`key ${word} needs ${command.argument}`, 2);
  if (extra !== undefined) throw new CommandError(`key ${word} takes only one argument`, 2);
  return [command, argument];
}

export async function key(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...STORAGE_FLAGS,
    user: TEXT,
    role: TEXT,
    dialect: { ...TEXT, multiple: true },
    expires: TEXT,
    administration: SWITCH,
  });
  const [word, ...given] = positionals;
  if (values.help || word === undefined) {
    (values.help ? console.log : printStderr)(USAGE);
    return values.help ? 0 : 2;
  }
  const [command, argument] = checked(word, given, Object.keys(values));
  const store = await openConfigured(values);
  try {
    const { out, note } = await command.run(store, argument, values);
    console.log(out);
    if (note !== undefined) printStderr(note);
  } finally {
    await store.close();
  }
  return 0;
}
