/** `parlance doctor`: reports what is installed, what is missing, and what to do. */
import { CommandError } from './command-error.ts';
import { SERVER_FLAGS } from './connection/address.ts';
import type { Check } from './doctor-check.ts';
import { checks } from './doctor-checks.ts';
import { parseFlags, SWITCH } from './flags.ts';
import { safeLine } from './terminal/safe-text.ts';
import { type Theme, themeFor } from './terminal/theme.ts';

const USAGE = `Usage: parlance doctor

Checks the programs that tools use, the data folder, the configuration, the server, the stored login,
the model and the model providers, with the settings that are stored in the console. Works next to a
running server. Exits with 1 if something does not work.

  --no-model     send nothing to the model providers
  --json         one check per line
  --url URL      the server (PARLANCE_URL)
  --data FOLDER  the data folder (PARLANCE_DATA), ./.parlance
  --config FILE  the configuration file (PARLANCE_CONFIG)`;

const MARKS = { good: '✓', missing: '!', bad: '✗' } as const;
const COLOURS = { good: 'green', missing: 'yellow', bad: 'red' } as const satisfies Record<
  string,
  keyof Theme
>;

export async function doctor(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...SERVER_FLAGS, json: SWITCH, 'no-model': SWITCH });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (positionals.length > 0) throw new CommandError('doctor takes no argument', 2);
  const theme = themeFor(process.stdout);
  let isBad = false;
  for await (const check of checks(values, { tryModel: !values['no-model'] })) {
    isBad ||= check.state === 'bad';
    console.log(values.json ? JSON.stringify(check) : lineOf(check, theme));
  }
  return isBad ? 1 : 0;
}

function lineOf({ name, state, about, advice }: Check, theme: Theme): string {
  const line = `${theme[COLOURS[state]](MARKS[state])} ${name.padEnd(14)} ${safeLine(about)}`;
  return advice === undefined ? line : `${line}\n${' '.repeat(17)}${theme.dim(`→ ${safeLine(advice)}`)}`;
}
