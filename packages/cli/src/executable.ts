/**
 * Entry point of the single executable: the command line, and the programs that the server runs as separate
 * processes.
 */
import { PROGRAM_VARIABLE } from '@parlance/server/program';
import { printStderr } from './command.ts';
import { missingSettings } from './engine-settings.ts';

switch (process.env[PROGRAM_VARIABLE]) {
  case 'reader':
    await import('../../server/src/tools/fetch/reader.ts');
    break;
  case 'plain':
    await import('../../server/src/tools/search/plain.ts');
    break;
  case 'renderer':
    await import('../../server/src/dialects/native/transcript/renderer.ts');
    break;
  default:
    await start();
}

async function start(): Promise<void> {
  const { PARLANCE_PROFILE: profile = '' } = process.env;
  if (profile !== '' && profile !== 'small') {
    printStderr(`parlance: PARLANCE_PROFILE must be small or empty, not ${profile}`);
    process.exit(1);
  }
  const missing = missingSettings(process.env);
  // Re-executes in the same process, since the runtime reads its settings only once.
  if (Object.keys(missing).length > 0 && process.execve)
    process.execve(process.execPath, [process.execPath, ...process.argv.slice(2)], {
      ...process.env,
      ...missing,
    });
  await import('./main.ts');
}
