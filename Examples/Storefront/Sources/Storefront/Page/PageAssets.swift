/// The page's style and script.
enum PageAssets {
  static let style: StaticString = """
    :root { --ink: #2b211b; --soft: #7a6a5e; --paper: #faf6f0; --card: #fff; --line: #e9dfd3; --accent: #7c3f1d; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #f1e8df; --soft: #b09f91; --paper: #1d1714; --card: #28201b; --line: #3b302a; --accent: #e09a62; }
    }
    * { box-sizing: border-box; margin: 0; }
    body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; padding: 2rem 1.25rem; }
    header, main, footer { max-width: 72rem; margin: 0 auto; }
    header { margin-bottom: 1.75rem; }
    h1 { font: 700 2.4rem/1.1 Georgia, serif; letter-spacing: -.02em; }
    h2 { font-size: 1.05rem; }
    header p, footer, .empty, article p { color: var(--soft); }
    main { display: grid; grid-template-columns: 1fr 21rem; gap: 1.75rem; align-items: start; }
    #products { display: grid; grid-template-columns: repeat(auto-fill, minmax(14.5rem, 1fr)); gap: 1.1rem; }
    article, aside section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 1.1rem; }
    article { display: flex; flex-direction: column; gap: .5rem; }
    article p { font-size: .92rem; flex: 1; }
    article form { display: flex; justify-content: space-between; align-items: center; }
    .picture { font-size: 2.6rem; line-height: 1; padding: 1rem 0; text-align: center; background: var(--paper);
      border-radius: 10px; }
    .badge, .count { font-size: .72rem; font-weight: 600; background: var(--accent); color: var(--card);
      border-radius: 99px; padding: .12rem .5rem; vertical-align: middle; }
    aside { display: grid; gap: 1.1rem; position: sticky; top: 1.25rem; }
    aside section { display: grid; gap: .7rem; }
    ul, ol { list-style: none; padding: 0; display: grid; gap: .5rem; }
    li { display: flex; align-items: center; gap: .45rem; font-size: .92rem; }
    .name { flex: 1; }
    .quantity { min-width: 1.4rem; text-align: center; }
    .price, strong { font-variant-numeric: tabular-nums; white-space: nowrap; }
    .total { display: flex; justify-content: space-between; border-top: 1px solid var(--line); padding-top: .7rem; }
    button { font: inherit; font-weight: 600; color: var(--accent); background: none; border: 1px solid var(--line);
      border-radius: 9px; padding: .4rem .8rem; cursor: pointer; }
    button:hover, button:focus-visible { border-color: var(--accent); }
    button.step { padding: 0 .5rem; }
    button.buy { width: 100%; background: var(--accent); color: var(--card); border-color: var(--accent); padding: .6rem; }
    #notice { position: fixed; left: 50%; bottom: 1.5rem; transform: translateX(-50%); background: var(--ink);
      color: var(--paper); border-radius: 9px; padding: .6rem 1.1rem; opacity: 0; pointer-events: none; transition: opacity .2s; }
    #notice.shown { opacity: 1; }
    footer { margin-top: 2rem; font-size: .85rem; }
    a { color: inherit; }
    @media (max-width: 52rem) { main { grid-template-columns: 1fr; } aside { position: static; } }
    """

  /// Sends the page's forms in the background and takes the cart and the orders from a new copy of the page.
  static let script: StaticString = """
    const notice = document.getElementById('notice');
    let hide;
    function say(text) {
      notice.textContent = text;
      notice.classList.add('shown');
      clearTimeout(hide);
      hide = setTimeout(() => notice.classList.remove('shown'), 2500);
    }
    async function refresh() {
      const response = await fetch('/', { headers: { Accept: 'text/html' } });
      // Only this part: the copy's style and script have another nonce than this page allows.
      const text = await response.text();
      const part = text.slice(text.indexOf('<aside>'), text.indexOf('</aside>'));
      const copy = new DOMParser().parseFromString(part, 'text/html');
      for (const id of ['cart', 'orders']) document.getElementById(id).replaceWith(copy.getElementById(id));
    }
    document.addEventListener('submit', async event => {
      event.preventDefault();
      const form = event.target;
      try {
        const response = await fetch(form.action, {
          method: 'POST', headers: { Accept: 'application/json' }, body: new URLSearchParams(new FormData(form)) });
        const answer = await response.json();
        if (!response.ok) say(answer.error);
        else if (response.status === 201) say('Thank you! Order ' + answer.id.slice(0, 8) + ' is placed.');
        await refresh();
      } catch {
        say('The shop cannot be reached. Try again.');
      }
    });
    """
}
