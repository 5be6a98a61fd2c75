/**
 * Installs the peers on first use. Peers that cannot be installed are absent from the tables, with the
 * reason.
 */
import { existsSync } from 'node:fs';
import { inBench } from './contestants/contestant.ts';

/** Does nothing if they are installed. Never throws: without them, the rest is measured. */
export async function installPeers(say: (text: string) => void): Promise<void> {
  // npm writes this file when it has finished.
  if (existsSync(inBench('node_modules/.package-lock.json'))) return;
  say('installing the peers into bench/node_modules (about a minute)');
  const npm = Bun.which('npm');
  if (npm === null) return say('npm is not installed: the peers are absent');
  // No lock file: one written on this platform lacks the other platforms of a peer and would fail there.
  const options = ['--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = Bun.spawn([npm, 'install', ...options], {
    cwd: inBench('.'),
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const [errors, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) say(`npm could not install them:\n${errors.trim().slice(-800)}`);
}
