/** Limits of the commands that agents run. */
import { totalmem } from 'node:os';
import { type LimitSetting, limit } from './limit.ts';

const STOPPED = 'the command and all its processes are killed, and its result says why';

export const COMMAND_LIMITS = {
  commandMemory: {
    ...limit({
      env: 'PARLANCE_COMMAND_MEMORY',
      flag: '--command-memory',
      argument: 'BYTES',
      fallback: Math.floor(0.75 * Math.min(totalmem(), process.constrainedMemory() || totalmem())),
      range: [16_777_216, 1_000_000_000_000_000],
      description: 'memory of a command with all its processes; its /tmp can hold half of that',
      reached: STOPPED,
    }),
    fallbackText: 'three quarters of the memory',
  },
  commandProcesses: limit({
    env: 'PARLANCE_COMMAND_PROCESSES',
    flag: '--command-processes',
    argument: 'COUNT',
    fallback: 4_096,
    range: [16, 1_000_000],
    description: 'processes and threads of a command at the same time',
    reached: STOPPED,
  }),
  commandDisk: limit({
    env: 'PARLANCE_COMMAND_DISK',
    flag: '--command-disk',
    argument: 'BYTES',
    fallback: 10_737_418_240,
    range: [1_048_576, 1_000_000_000_000_000],
    description:
      'disk space that is used up while a command runs; at most nine tenths of what was free when it started',
    reached: STOPPED,
  }),
} as const satisfies Record<string, LimitSetting>;
