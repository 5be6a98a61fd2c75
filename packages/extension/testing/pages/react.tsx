/** A page with controlled fields: React ignores values that were not entered through events. */
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

/** A menu that is open only while the pointer is over it. */
function RareTeas({ choose }: { choose: (tea: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pages have such menus
    <div className="menu" onMouseEnter={() => setOpen(true)} onMouseLeave={() => setOpen(false)}>
      <span className="btn">Rare teas</span>
      {open && (
        <ul>
          <li>
            <button type="button" onClick={() => choose('Gyokuro')}>
              Gyokuro
            </button>
          </li>
        </ul>
      )}
    </div>
  );
}

const PRODUCTS = ['Assam', 'Darjeeling', 'Sencha'];

function App() {
  const [name, setName] = useState('');
  const [phone, setPhone] = useState('');
  const [agreed, setAgreed] = useState(false);
  const [tea, setTea] = useState('Assam');
  const [filter, setFilter] = useState('');
  const [sent, setSent] = useState('');
  const digits = phone.replace(/\D/g, '').slice(0, 6);
  return (
    <main>
      <h1>Order tea</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSent(`${name} orders ${tea}, phone ${digits}`);
        }}
      >
        <label>
          Customer <input value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          Phone{' '}
          <input
            value={digits.replace(/(\d{3})(?=\d)/, '$1-')}
            onChange={(event) => setPhone(event.target.value)}
          />
        </label>
        <label>
          Tea
          <select value={tea} onChange={(event) => setTea(event.target.value)}>
            {PRODUCTS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.target.checked)} /> I
          agree
        </label>
        <button type="submit" disabled={!agreed || name === ''}>
          Send order
        </button>
      </form>
      <label>
        Filter <input type="search" value={filter} onChange={(event) => setFilter(event.target.value)} />
      </label>
      <ul>
        {PRODUCTS.filter((each) => each.toLowerCase().includes(filter.toLowerCase())).map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <RareTeas choose={(rare) => setSent(`${rare} chosen`)} />
      <p id="status">{sent || 'Nothing sent'}</p>
    </main>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
