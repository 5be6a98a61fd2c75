/** What happens in a run, decided by its seed before it starts. Shrinking drops parts of it. */
import type { DurableEvent, SpendLimit } from '@parlance/protocol';
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
      /** most appends with an event of this type */
      readonly kind: 'store picks';
      readonly type: DurableEvent['type'];
      readonly how: 'refused' | 'lost' | 'late';
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
  /** share of the calls that concern sub-agents */
  readonly subAgents: number;
  /** of the operator, on tokens; owners may set one for their sessions as well */
  readonly limits: readonly SpendLimit[] | null;
  /** milliseconds that restoring files takes; 0: sessions cannot be rewound */
  readonly rewinds: number;
  readonly instructions: boolean;
  /** the tools that models call; all if empty */
  readonly tools: readonly string[];
};

/**
 * What a world is about: half of them are about anything, the others about what is rare there, so that seeds of all kinds are among
 * any dozen.
 */
export type About = keyof typeof THEMES | 'anything';

export type Plan = {
  readonly seed: number;
  readonly about: About;
  readonly nodes: number;
  readonly activeMs: number;
  readonly clients: readonly ClientPlan[];
  /** dialects that watch session 1, besides the clients */
  readonly watched: readonly number[];
  readonly faults: readonly FaultPlan[];
  readonly cachedSessions: number;
  readonly turnsAtOnce: number;
  /** share of the clients' actions that erase a session; 0 together with a failover */
  readonly erases: number;
  /** share of the clients' actions that use a capability */
  readonly uses: number;
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

export const ABOUT: readonly About[] = [
  'anything',
  'everything, without faults',
  'anything',
  'sub-agents',
  'anything',
  'failovers',
  'anything',
  'pauses',
  'anything',
  'erased sessions',
  'anything',
  'rewinds',
];

export function planOf(seed: number, about = ABOUT[seed % ABOUT.length] ?? 'anything'): Plan {
  const plan = anything(seed);
  if (about === 'anything') return plan;
  const random = new Random(seed).branch(about);
  return { ...plan, about, ...THEMES[about](random, plan) };
}

function anything(seed: number): Plan {
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
    about: 'anything',
    nodes,
    activeMs,
    clients,
    watched: Array.from({ length: random.between(0, 3) }, () => random.between(0, 99)),
    faults,
    cachedSessions: random.pick([1, 2, 200]),
    turnsAtOnce: random.pick([1, 2, 10]),
    erases: erases ? 0.01 : 0,
    uses: 0.12,
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
    subAgents: random.chance(0.35) ? 0.25 : 0,
    limits: random.chance(0.3) ? limits.filter(() => random.chance(0.6)) : null,
    rewinds: random.chance(0.3) ? 40 : 0,
    instructions: random.chance(0.3),
    tools: [],
  };
}

const NOTHING: Capabilities = { subAgents: 0, limits: null, rewinds: 0, instructions: false, tools: [] };

type Theme = Partial<Omit<Plan, 'seed' | 'about'>>;

const THEMES = {
  'everything, without faults': (random: Random, { can }: Plan): Theme => ({
    faults: [],
    turnsAtOnce: 10,
    can: {
      subAgents: 0.3,
      limits: random.chance(0.5) ? can.limits : null,
      rewinds: 40,
      instructions: true,
      tools: [],
    },
  }),

  'sub-agents': (random: Random, { activeMs }: Plan): Theme => {
    const nodes = random.pick([1, 2, 2, 3, 4]);
    const deaf: FaultPlan = {
      kind: 'bus fails',
      at: 100,
      forMs: activeMs,
      node: 0,
      drop: 0.5,
      repeat: 0,
      reorder: 0,
      slow: 1,
    };
    const kinds = [
      'store picks',
      'store picks',
      'store fails',
      'store slow',
      'kill at commit',
      ...(nodes > 1 ? (['pause', 'bus fails', 'cut', 'store picks'] as const) : []),
    ] as const;
    return {
      nodes,
      clients: crowd(random, { most: 3, sessions: random.between(1, 2), paces: [20, 60, 200] }),
      faults: [
        ...(nodes > 1 && random.chance(0.5) ? [deaf] : []),
        ...several(random, { nodes, activeMs, kinds, picks: OF_SUB_AGENTS }),
      ],
      turnsAtOnce: random.pick([1, 1, 2, 10]),
      // Of sessions in memory that nobody watches, no node hears.
      cachedSessions: random.pick([2, 20, 20, 200]),
      erases: 0,
      uses: 0.3,
      can: { ...NOTHING, subAgents: 0.6 },
    };
  },

  failovers: (random: Random, { activeMs }: Plan): Theme => {
    const nodes = random.between(2, 4);
    const kinds = ['store fails', 'bus fails', 'cut', 'pause', 'store picks'] as const;
    const failover = (): FaultPlan => ({
      kind: 'failover',
      at: random.between(500, activeMs),
      forMs: random.pick([200, 900]),
      node: 0,
    });
    return {
      nodes,
      clients: crowd(random, { most: 4, sessions: random.between(1, 2), paces: [20, 60] }),
      faults: [failover(), ...several(random, { nodes, activeMs, kinds, picks: OF_TURNS })],
      erases: 0,
      // Clients repeat what they have sent.
      uses: 0.3,
      can: NOTHING,
    };
  },

  pauses: (random: Random, { activeMs }: Plan): Theme => {
    const nodes = random.between(2, 3);
    const kinds = ['cut', 'bus fails', 'kill at commit', 'store picks'] as const;
    const pauses = Array.from(
      { length: random.between(3, 8) },
      (): FaultPlan => ({
        kind: 'pause',
        at: random.between(100, activeMs),
        // A little longer than a lease.
        forMs: random.between(1_500, 3_000),
        node: random.between(0, nodes - 1),
      }),
    );
    return {
      nodes,
      clients: crowd(random, { most: 3, sessions: random.between(1, 2), paces: [60, 200] }),
      faults: [...pauses, ...several(random, { nodes, activeMs, kinds, picks: OF_TURNS })],
      erases: 0,
      // Turns wait often: nobody drives them then.
      can: { ...NOTHING, tools: ['guarded', 'question', 'deferred', 'plain'] },
    };
  },

  'erased sessions': (random: Random): Theme => {
    const nodes = random.between(2, 3);
    // Short: what a node has forgotten is seen if nobody asks for it any more.
    const activeMs = random.between(10, 30) * 100;
    const kinds = ['bus fails', 'cut', 'pause', 'store slow', 'kill at commit'] as const;
    // What was erased is there again when others hear of it.
    const late: FaultPlan = {
      kind: 'bus fails',
      at: 100,
      forMs: activeMs,
      node: 0,
      drop: 0,
      repeat: 0,
      reorder: random.pick([0, 0.5]),
      slow: random.pick([20, 100, 200]),
    };
    return {
      nodes,
      activeMs,
      clients: crowd(random, { most: 3, sessions: random.between(1, 2), paces: [20, 60] }),
      faults: [late, ...several(random, { nodes, activeMs, kinds, picks: OF_TURNS })],
      erases: random.pick([0.05, 0.09]),
      can: NOTHING,
    };
  },

  rewinds: (random: Random, { activeMs }: Plan): Theme => {
    const nodes = random.pick([1, 2, 2, 3]);
    const kinds = [
      'store picks',
      'store picks',
      'store picks',
      'store fails',
      'kill',
      'kill at commit',
    ] as const;
    return {
      nodes,
      clients: crowd(random, { most: 4, sessions: 1, paces: [20, 60] }),
      faults: several(random, { nodes, activeMs, kinds, picks: OF_REWINDS }),
      turnsAtOnce: 10,
      erases: 0,
      uses: 0.4,
      can: { ...NOTHING, rewinds: random.pick([40, 400, 1_500]) },
    };
  },
} as const;

const OF_TURNS = [
  'turn.started',
  'step.ended',
  'tool.started',
  'tool.ended',
  'approval.requested',
  'approval.answered',
  'question.asked',
  'turn.ended',
  'turn.cancelled',
  'turn.resumed',
] as const;
const OF_SUB_AGENTS = [
  'parent.informed',
  'parent.informed',
  'child.stopped',
  'call.delegated',
  'session.created',
  'tool.started',
  'tool.ended',
  'approval.requested',
  'approval.answered',
  'turn.cancelled',
] as const;
const OF_REWINDS = [
  'files.rewound',
  'files.rewound',
  'rewind.started',
  'tool.started',
  'tool.ended',
] as const;

type Crowd = { readonly most: number; readonly sessions: number; readonly paces: readonly number[] };

/** Clients that use all sessions. */
const crowd = (random: Random, { most, sessions, paces }: Crowd): ClientPlan[] =>
  Array.from({ length: random.between(1, most) }, (_, index) => ({
    name: `client${index + 1}`,
    sessions: Array.from({ length: sessions }, (_, session) => session + 1),
    pace: random.pick(paces),
  }));

type Faults = {
  readonly nodes: number;
  readonly activeMs: number;
  readonly kinds: readonly FaultPlan['kind'][];
  readonly picks: readonly DurableEvent['type'][];
};

const several = (random: Random, { nodes, activeMs, kinds, picks }: Faults): FaultPlan[] =>
  Array.from({ length: random.between(1, 6) }, () => faultOf(random, nodes, activeMs, kinds, picks));

function faultOf(
  random: Random,
  nodes: number,
  activeMs: number,
  kinds: readonly FaultPlan['kind'][] = nodes === 1 ? ALONE : TOGETHER,
  picks: readonly DurableEvent['type'][] = [],
): FaultPlan {
  const at = random.between(100, activeMs);
  const forMs = random.pick([20, 200, 900, 2_500, 6_000]);
  const base = { at, forMs, node: random.between(0, nodes - 1) };
  const kind = random.pick(kinds);
  switch (kind) {
    case 'store picks':
      return {
        ...base,
        kind,
        forMs: Math.max(2_500, forMs),
        type: random.pick(picks),
        how: random.pick(['refused', 'lost', 'late']),
      };
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
