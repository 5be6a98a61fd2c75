/** Writes the documentation that is made from the code. `--check` only says whether it is up to date. */
import { join } from 'node:path';
import { settingsMarkdown } from '../packages/server/src/config.ts';

const path = 'docs/guides/configuration.md';
const text = `# Configuration

Every setting has an environment variable, most have a flag, and all have a key in the config file: \`parlance.json\` in the current
folder, or the file that \`--config\` names. A flag counts more than the environment, and that more than the file. A wrong value
stops the start with one line that names it.

<!-- made by scripts/docs.ts -->
${settingsMarkdown().trim()}
`;

const file = Bun.file(join(import.meta.dir, '..', path));
const current = (await file.exists()) ? await file.text() : '';
if (process.argv.includes('--check')) {
  if (current === text) process.exit(0);
  console.error(`${path} is not up to date: run \`npm run docs\``);
  process.exit(1);
}
await Bun.write(file, text);
