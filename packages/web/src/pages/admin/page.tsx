/** Administration. Each section has its own address: `#/admin?section=users`. */

import { NoAccess } from '@parlance/ui/components/no-access.tsx';
import { isLocal, may, type Needs } from '@parlance/ui/state/may.ts';
import { hrefOf, signInHref, useLocation } from '@parlance/ui/state/router.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { CONNECTIONS } from '../../layout/pages.ts';
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
import { SkillsSection } from './skills.tsx';
import { UsageSection } from './usage.tsx';
import { UsersSection } from './users.tsx';

/** *Connections* is a page for developers, the others are those of *Admin*. */
const GROUPS = ['Models', 'Agents & tools', 'People', 'Server', 'Connections'] as const;
type Group = (typeof GROUPS)[number];

const SECTIONS = {
  model: { label: 'Model', group: 'Models', Section: ModelSection, needs: 'setup' },
  agents: { label: 'Agents', group: 'Agents & tools', Section: AgentsSection, needs: 'setup' },
  mcp: { label: 'MCP servers', group: 'Agents & tools', Section: McpSection, needs: 'metrics:read' },
  origins: { label: 'Origins', group: 'Connections', Section: OriginsSection, needs: 'admin' },
  metrics: { label: 'Metrics', group: 'Server', Section: MetricsSection, needs: 'metrics:read' },
  listeners: { label: 'Listeners', group: 'Connections', Section: ListenersSection, needs: 'metrics:read' },
  nodes: { label: 'Nodes', group: 'Connections', Section: NodesSection, needs: 'admin' },
  grants: {
    label: 'Standing grants',
    group: 'Agents & tools',
    Section: GrantsSection,
    needs: 'tool:approve',
  },
  instructions: {
    label: 'Project instructions',
    group: 'Agents & tools',
    Section: InstructionsSection,
    needs: 'tool:approve',
  },
  skills: { label: 'Skills', group: 'Agents & tools', Section: SkillsSection, needs: 'setup' },
  usage: { label: 'Usage', group: 'Models', Section: UsageSection, needs: 'chat:read' },
  limits: { label: 'Spend limits', group: 'Models', Section: LimitsSection, needs: 'chat:read' },
  prices: { label: 'Prices', group: 'Models', Section: PricesSection, needs: 'admin' },
  users: { label: 'Users', group: 'People', Section: UsersSection, needs: 'admin' },
  keys: { label: 'API keys', group: 'People', Section: KeysSection, needs: 'account' },
  account: { label: 'Your account', group: 'People', Section: AccountSection, needs: 'account' },
} as const satisfies Record<string, { label: string; group: Group; Section: () => ReactNode; needs: Needs }>;

type Name = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Name[];

const groupId = (group: Group): string => `sections-${group.toLowerCase().replace(/\W+/g, '-')}`;

export function AdminPage() {
  const location = useLocation();
  const about = useServer();
  const requested = NAMES.find((name) => name === location.query.section);
  const isConnections = requested !== undefined && CONNECTIONS.has(requested);
  const names = NAMES.filter(
    (name) => may(about, SECTIONS[name].needs) && CONNECTIONS.has(name) === isConnections,
  );
  const first = GROUPS.flatMap((group) => names.filter((name) => SECTIONS[name].group === group))[0];
  const chosen = requested ?? first;
  const Section = chosen && names.includes(chosen) ? SECTIONS[chosen].Section : NoAccess;
  const title = isConnections ? 'Connections' : may(about, 'metrics:read') ? 'Admin' : 'Account';
  return (
    <Page title={title}>
      <nav className="admin-tabs" aria-label="Sections">
        {GROUPS.map((group) => {
          const links = names.filter((name) => SECTIONS[name].group === group);
          if (links.length === 0) return null;
          return (
            <div key={group} className="admin-tab-group">
              {!isConnections && <span id={groupId(group)}>{group}</span>}
              <ul aria-labelledby={isConnections ? undefined : groupId(group)}>
                {links.map((name) => (
                  <li key={name}>
                    <a
                      href={hrefOf({ page: 'admin' }, { section: name })}
                      aria-current={name === chosen ? 'page' : undefined}
                    >
                      {SECTIONS[name].label}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <Section />
      {isLocal(about) && Section !== NoAccess && (
        <p className="hint admin-sign-in">
          <a href={signInHref(location)}>Sign in</a> as an admin to manage users, API keys, MCP servers,
          connections and prices.
        </p>
      )}
    </Page>
  );
}
