/** The machine on which a row was measured. */
import { cpus, release, totalmem } from 'node:os';
import { versionOf } from '../contestants/contestant.ts';
import { PARLANCE_VERSION } from '../contestants/parlance.ts';

export type Machine = {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly kernel: string;
  readonly versions: Readonly<Record<string, string>>;
};

export async function machineOf(): Promise<Machine> {
  const [first] = cpus();
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1e9),
    kernel: release().split('-')[0] ?? '',
    versions: {
      parlance: PARLANCE_VERSION,
      bun: Bun.version,
      node: await versionOf('node'),
      ai: await versionOf('ai'),
      ws: await versionOf('ws'),
      codex: await versionOf('@openai/codex'),
      opencode: await versionOf('opencode-ai'),
    },
  };
}

/** In one line, with only the relevant versions. */
export const machineLine = ({ processor, cores, memoryGigabytes, kernel, versions }: Machine): string =>
  `${processor}, ${cores} cores, ${memoryGigabytes} GB, Linux ${kernel}; Bun ${versions.bun}, Node ${versions.node}`;
