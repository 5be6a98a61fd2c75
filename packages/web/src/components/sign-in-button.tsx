/** Begins to sign in to an MCP server. The address is shown before the browser goes there. */
import { attempt, Button } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { useState } from 'react';

export function SignInButton({ name }: { readonly name: string }) {
  const [link, setLink] = useState<URL | null>(null);

  const begin = () => attempt(async () => setLink(webAddress(await parlance.mcp.begin(name))));

  return (
    <>
      <Button variant="primary" aria-label={`Sign in to ${name}`} onClick={() => void begin()}>
        Sign in
      </Button>
      {link && (
        <Dialog
          title={`Sign in to ${name}`}
          confirm={`Continue to ${link.host}`}
          onClose={() => setLink(null)}
          onConfirm={() => location.assign(link)}
        >
          <p>
            You sign in at <strong>{link.host}</strong>, which then leads back here. To use another browser,
            open this address there, at most once:
          </p>
          <p className="sign-in-link">
            <code>{link.href}</code>
          </p>
        </Dialog>
      )}
    </>
  );
}

function webAddress(link: string): URL {
  const url = new URL(link);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('not a web address');
  return url;
}
