/** Administration. Each section has its own address: `#/admin?section=users`. */
import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { hrefOf, usePlace } from '../../router.ts';
import { may, type Needs } from '../../state/may.ts';
import { useServer } from '../../state/server.ts';
import { AccountSection } from './account.tsx';
import { AgentsSection } from './agents.tsx';
import { GrantsSection } from './grants.tsx';
import { KeysSection } from './keys.tsx';
import { ListenersSection } from './listeners.tsx';
import { McpSection } from './mcp.tsx';
import { MetricsSection } from './metrics/section.tsx';
import { ModelSection } from './model.tsx';
import { NodesSection } from './nodes.tsx';
import { OriginsSection } from './origins.tsx';
import { PricesSection } from './prices.tsx';
import { UsersSection } from './users.tsx';

const SECTIONS = {
  model: { label: 'Model', Section: ModelSection, needs: 'admin' },
  agents: { label: 'Agents', Section: AgentsSection, needs: 'admin' },
  mcp: { label: 'MCP servers', Section: McpSection, needs: 'metrics:read' },
  origins: { label: 'Origins', Section: OriginsSection, needs: 'admin' },
  metrics: { label: 'Metrics', Section: MetricsSection, needs: 'metrics:read' },
  listeners: { label: 'Listeners', Section: ListenersSection, needs: 'metrics:read' },
  nodes: { label: 'Nodes', Section: NodesSection, needs: 'admin' },
  grants: { label: 'Standing grants', Section: GrantsSection, needs: 'tool:approve' },
  prices: { label: 'Prices', Section: PricesSection, needs: 'admin' },
  users: { label: 'Users', Section: UsersSection, needs: 'admin' },
  keys: { label: 'API keys', Section: KeysSection },
  account: { label: 'Your login', Section: AccountSection },
} as const satisfies Record<string, { label: string; Section: () => ReactNode; needs?: Needs }>;

type Name = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Name[];

export function AdminPage() {
  const { query } = usePlace();
  const { auth, principal } = useServer();
  // In open mode everyone may sign in as somebody else: the sections say so.
  const all = auth === 'open' && principal.id === 'local';
  const names = NAMES.filter((name) => {
    const { needs } = SECTIONS[name] as { needs?: Needs };
    return all || may(principal, needs);
  });
  const chosen =
    names.find((name) => name === query.section) ??
    names.find((name) => name === 'metrics') ??
    names[0] ??
    'account';
  const { Section } = SECTIONS[chosen];
  return (
    <Page title={may(principal, 'metrics:read') ? 'Admin' : 'Account'}>
      <nav className="admin-tabs" aria-label="Sections">
        {names.map((name) => (
          <a
            key={name}
            href={hrefOf({ page: 'admin' }, { section: name })}
            aria-current={name === chosen ? 'page' : undefined}
          >
            {SECTIONS[name].label}
          </a>
        ))}
      </nav>
      <Section />
    </Page>
  );
}
