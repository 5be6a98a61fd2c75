/** Administration. Each section has its own address: `#/admin?section=users`. */

import { NoAccess } from '@parlance/ui/components/no-access.tsx';
import { isLocal, may, type Needs } from '@parlance/ui/state/may.ts';
import { hrefOf, signInHref, useLocation } from '@parlance/ui/state/router.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { AccountSection } from './account.tsx';
import { AgentsSection } from './agents.tsx';
import { GrantsSection } from './grants.tsx';
import { InstructionsSection } from './instructions.tsx';
import { KeysSection } from './keys.tsx';
import { LimitsSection } from './limits.tsx';
import { ListenersSection } from './listeners.tsx';
import { McpSection } from './mcp.tsx';
import { MetricsSection } from './metrics.tsx';
import { ModelSection } from './model.tsx';
import { NodesSection } from './nodes.tsx';
import { OriginsSection } from './origins.tsx';
import { PricesSection } from './prices.tsx';
import { UsageSection } from './usage.tsx';
import { UsersSection } from './users.tsx';

const SECTIONS = {
  model: { label: 'Model', Section: ModelSection, needs: 'setup' },
  agents: { label: 'Agents', Section: AgentsSection, needs: 'setup' },
  mcp: { label: 'MCP servers', Section: McpSection, needs: 'metrics:read' },
  origins: { label: 'Origins', Section: OriginsSection, needs: 'admin' },
  metrics: { label: 'Metrics', Section: MetricsSection, needs: 'metrics:read' },
  listeners: { label: 'Listeners', Section: ListenersSection, needs: 'metrics:read' },
  nodes: { label: 'Nodes', Section: NodesSection, needs: 'admin' },
  grants: { label: 'Standing grants', Section: GrantsSection, needs: 'tool:approve' },
  instructions: { label: 'Project instructions', Section: InstructionsSection, needs: 'tool:approve' },
  usage: { label: 'Usage', Section: UsageSection, needs: 'chat:read' },
  limits: { label: 'Spend limits', Section: LimitsSection, needs: 'chat:read' },
  prices: { label: 'Prices', Section: PricesSection, needs: 'admin' },
  users: { label: 'Users', Section: UsersSection, needs: 'admin' },
  keys: { label: 'API keys', Section: KeysSection, needs: 'account' },
  account: { label: 'Your account', Section: AccountSection, needs: 'account' },
} as const satisfies Record<string, { label: string; Section: () => ReactNode; needs: Needs }>;

type Name = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Name[];

export function AdminPage() {
  const location = useLocation();
  const about = useServer();
  const names = NAMES.filter((name) => may(about, SECTIONS[name].needs));
  const requested = NAMES.find((name) => name === location.query.section);
  const chosen = requested ?? names[0];
  const Section = chosen && names.includes(chosen) ? SECTIONS[chosen].Section : NoAccess;
  return (
    <Page title={may(about, 'metrics:read') ? 'Admin' : 'Account'}>
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
      {isLocal(about) && Section !== NoAccess && (
        <p className="hint admin-sign-in">
          <a href={signInHref(location)}>Sign in</a> as an admin to manage users, API keys, MCP servers,
          listeners, origins and prices.
        </p>
      )}
    </Page>
  );
}
