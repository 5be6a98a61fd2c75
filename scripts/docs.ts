/** Writes the documentation that is made from the code. `--check` only says whether it is up to date. */
import { join } from 'node:path';
import { settingsMarkdown } from '../packages/server/src/config.ts';
import { openApiText } from '../packages/server/src/openapi/document.ts';

const MADE: Readonly<Record<string, () => string>> = {
  'docs/guides/configuration.md': () => `# Configuration

Every setting has an environment variable, most have a flag, and all have a key in the config file: \`parlance.json\` in the current
folder, or the file that \`--config\` names. A flag counts more than the environment, and that more than the file. A wrong value
stops the start with one line that names it.

<!-- made by scripts/docs.ts -->
${settingsMarkdown().trim()}
`,
  'docs/openapi.json': openApiText,
};

const check = process.argv.includes('--check');
for (const [path, make] of Object.entries(MADE)) {
  const file = Bun.file(join(import.meta.dir, '..', path));
  const text = make();
  if (!check) await Bun.write(file, text);
  else if (!(await file.exists()) || (await file.text()) !== text) {
    console.error(`${path} is not up to date: run \`npm run docs\``);
    process.exitCode = 1;
  }
}
