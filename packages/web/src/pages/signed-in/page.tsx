/** Where an authorization server leads back to: ends the sign-in to an MCP server. */
import { Empty, Notice, useAttempt } from '@parlance/ui/components/controls.tsx';
import { hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';
import { Page } from '../../components/page.tsx';

export function SignedInPage() {
  const query = new URLSearchParams(useLocation().query).toString();
  const [name, setName] = useState<string | null>(null);
  const { problem, run } = useAttempt();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each address; a link works once
  useEffect(() => {
    void run(async () => setName(await parlance.mcp.finish(query)));
  }, [query]);

  return (
    <Page title="Sign in to an MCP server">
      {problem !== null && <Notice variant="danger">{problem}</Notice>}
      {problem === null && name === null && <p role="status">Signing in …</p>}
      {name !== null && (
        <Empty
          title={`Signed in to ${name}`}
          action={
            <a className="button" href={hrefOf({ page: 'new' })}>
              Continue
            </a>
          }
        >
          Agents can use its tools. You can close this page.
        </Empty>
      )}
    </Page>
  );
}
