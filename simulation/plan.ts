/** What happens in a run, decided by its seed before it starts. Shrinking drops parts of it. */
import type { SpendLimit } from '@parlance/protocol';
import { Random } from './random.ts';

export type FaultPlan = { readonly at: number; readonly forMs: number; readonly node: number } & (
  | {
      readonly kind:
        | 'kill'
        | 'kill at commit'
        | 'pause'
        | 'drain'
        | 'cut'
        | 'bus stops'
        | 'store stops'
        | 'store full'
        | 'failover';
    }
  | { readonly kind: 'skew'; readonly ms: number }
  | { readonly kind: 'store slow'; readonly factor: number }
  | {
      readonly kind: 'store fails';
      readonly refused: number;
      readonly lost: number;
      readonly late: number;
      readonly unread: number;
    }
  | {
      readonly kind: 'bus fails';
      readonly drop: number;
      readonly repeat: number;
      readonly reorder: number;
      readonly slow: number;
    }
);

export type ClientPlan = {
  readonly name: string;
  /** the sessions it uses, by number */
  readonly sessions: readonly number[];
  /** milliseconds between two of its actions */
  readonly pace: number;
};

/** What sessions can do besides messages, calls and approvals. */
export type Capabilities = {
  readonly subAgents: boolean;
  /** of the operator, on tokens; owners may set one for their sessions as well */
  readonly limits: readonly SpendLimit[] | null;
  readonly rewinds: boolean;
  readonly instructions: boolean;
};

export type Plan = {
  readonly seed: number;
  readonly nodes: number;
  readonly activeMs: number;
  readonly clients: readonly ClientPlan[];
  /** dialects that watch session 1, besides the clients */
  readonly watched: readonly number[];
  readonly faults: readonly FaultPlan[];
  readonly cachedSessions: number;
  readonly turnsAtOnce: number;
  /** clients erase sessions; not together with a failover */
  readonly erases: boolean;
  readonly can: Capabilities;
};

const ALONE = [
  'kill',
  'kill at commit',
  'drain',
  'skew',
  'store slow',
  'store full',
  'store fails',
  'pause',
] as const;
const TOGETHER = [
  'kill',
  'kill at commit',
  'pause',
  'pause',
  'drain',
  'cut',
  'bus stops',
  'bus fails',
  'bus fails',
  'store stops',
  'store slow',
  'store fails',
  'store fails',
  'store full',
  'skew',
  'failover',
] as const;

export function planOf(seed: number): Plan {
  const random = new Random(seed).branch('plan');
  const nodes = random.chance(0.25) ? 1 : random.between(2, 5);
  const sessions = random.between(1, 4);
  const activeMs = random.between(3, 15) * 1_000;
  const clients = Array.from({ length: random.between(1, 4) }, (_, index): ClientPlan => {
    const own = Array.from({ length: sessions }, (_, session) => session + 1).filter(() =>
      random.chance(0.6),
    );
    return {
      name: `client${index + 1}`,
      sessions: own.length > 0 ? own : [1],
      pace: random.pick([20, 60, 200, 600]),
    };
  });
  const count = random.chance(0.15) ? 0 : random.between(1, 6);
  const faults = Array.from({ length: count }, () => faultOf(random, nodes, activeMs));
  const erases = !faults.some(({ kind }) => kind === 'failover') && random.chance(0.2);
  return {
    seed,
    nodes,
    activeMs,
    clients,
    watched: Array.from({ length: random.between(0, 3) }, () => random.between(0, 99)),
    faults,
    cachedSessions: random.pick([1, 2, 200]),
    turnsAtOnce: random.pick([1, 2, 10]),
    erases,
    can: capabilitiesOf(new Random(seed).branch('capabilities')),
  };
}

function capabilitiesOf(random: Random): Capabilities {
  const limits: SpendLimit[] = [
    { per: 'turn', tokens: random.pick([60, 120]) },
    { per: 'session', tokens: random.pick([300, 1_500]) },
    { per: 'user', in: 'month', tokens: random.pick([500, 3_000]) },
  ];
  return {
    subAgents: random.chance(0.35),
    limits: random.chance(0.3) ? limits.filter(() => random.chance(0.6)) : null,
    rewinds: random.chance(0.3),
    instructions: random.chance(0.3),
  };
}

function faultOf(random: Random, nodes: number, activeMs: number): FaultPlan {
  const at = random.between(100, activeMs);
  const forMs = random.pick([20, 200, 900, 2_500, 6_000]);
  const base = { at, forMs, node: random.between(0, nodes - 1) };
  const kind = random.pick(nodes === 1 ? ALONE : TOGETHER);
  switch (kind) {
    case 'skew':
      return { ...base, kind, ms: random.pick([-3_600_000, -5_000, 800, 60_000, 86_400_000]) };
    case 'store slow':
      return { ...base, kind, factor: random.pick([5, 30, 300]) };
    case 'store fails':
      return {
        ...base,
        kind,
        refused: random.pick([0, 0.1, 0.5]),
        lost: random.pick([0, 0.1, 0.4]),
        late: random.pick([0, 0.1, 0.3]),
        unread: random.pick([0, 0, 0.2, 0.6]),
      };
    case 'bus fails':
      return {
        ...base,
        kind,
        drop: random.pick([0, 0.05, 0.5]),
        repeat: random.pick([0, 0.2]),
        reorder: random.pick([0, 0.1, 0.5]),
        slow: random.pick([1, 20, 200]),
      };
    default:
      return { ...base, kind };
  }
}
