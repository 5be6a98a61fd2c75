/** Administration. Each section has its own address: `#/admin?section=users`. */
import { Page } from '../../components/page.tsx';
import { hrefOf, usePlace } from '../../router.ts';
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
import { UsersSection } from './users.tsx';

const SECTIONS = {
  model: { label: 'Model', Section: ModelSection },
  agents: { label: 'Agents', Section: AgentsSection },
  mcp: { label: 'MCP servers', Section: McpSection },
  origins: { label: 'Origins', Section: OriginsSection },
  metrics: { label: 'Metrics', Section: MetricsSection },
  listeners: { label: 'Listeners', Section: ListenersSection },
  nodes: { label: 'Nodes', Section: NodesSection },
  grants: { label: 'Standing grants', Section: GrantsSection },
  users: { label: 'Users', Section: UsersSection },
  keys: { label: 'API keys', Section: KeysSection },
  account: { label: 'Your login', Section: AccountSection },
} as const;

type Name = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Name[];

export function AdminPage() {
  const { query } = usePlace();
  const chosen = NAMES.find((name) => name === query.section) ?? 'metrics';
  const { Section } = SECTIONS[chosen];
  return (
    <Page title="Admin">
      <nav className="admin-tabs" aria-label="Sections">
        {NAMES.map((name) => (
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
