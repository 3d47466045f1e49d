extension OperationsPageAssets {
  static let style = #"""

    :root { --ink: #1f2328; --soft: #5d656e; --paper: #f6f7f9; --card: #fff; --line: #d8dee4; --accent: #0b62c4;
      --good: #1a7f37; --bad: #c62828; --unsure: #8a6100; --bar: #9cc3f0; --bad-paper: #fdecec; --unsure-paper: #fff6dd;
      --s0: #dceeff; --s1: #d9f5e1; --s2: #fdf1c8; --s3: #ffe4e1; --s4: #f1e4fd; --s5: #e8ecf0; --edge: #8b95a0; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #e6e9ed; --soft: #a0aab5; --paper: #11151a; --card: #1a2027; --line: #313a44; --accent: #6cb0ff;
        --good: #57c377; --bad: #ff8078; --unsure: #e0b34a; --bar: #2f5d92; --bad-paper: #3a1f20; --unsure-paper: #352b13;
        --s0: #17365a; --s1: #15422a; --s2: #4a3c10; --s3: #55211f; --s4: #3d2758; --s5: #2b333c; --edge: #75818d; }
    }
    * { box-sizing: border-box; margin: 0; }
    [hidden] { display: none !important; }
    body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; padding: 1.5rem 1.25rem 3rem; }
    header, main, #alerts, .bar-of-snapshot { max-width: 84rem; margin: 0 auto; }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; }
    h1 { font-size: 1.5rem; letter-spacing: -.01em; margin-right: auto; overflow-wrap: anywhere; min-width: 0; }
    h2 { font-size: 1.05rem; }
    h3 { font-size: .85rem; color: var(--soft); font-weight: 600; }
    .bar-of-snapshot { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1.5rem; margin-top: .6rem;
      margin-bottom: 1rem; font-size: .9rem; align-items: center; }
    nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
    .snapshot { display: flex; flex-wrap: wrap; gap: .3rem .5rem; align-items: center; color: var(--soft);
      font-variant-numeric: tabular-nums; }
    button { font: inherit; font-size: .85rem; color: var(--ink); background: var(--card); border: 1px solid var(--line);
      border-radius: 8px; padding: .15rem .7rem; cursor: pointer; }
    button:hover, button:focus-visible { border-color: var(--accent); }
    a { color: var(--accent); text-decoration: none; }
    a:hover, a:focus-visible { text-decoration: underline; }
    .alert { border: 1px solid; border-left-width: 5px; border-radius: 8px; padding: .5rem .9rem; margin-bottom: .6rem;
      overflow-wrap: anywhere; }
    .alert.bad { background: var(--bad-paper); } .alert.unsure { background: var(--unsure-paper); }
    .alert strong { margin-right: .4rem; }
    .alert span { color: var(--ink); white-space: pre-wrap; }
    #alerts { max-height: 24rem; overflow: auto; }
    #alerts:not(:empty) { margin-bottom: 1rem; }
    main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
    section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem;
      min-width: 0; scroll-margin-top: 1rem; }
    section > h2 { margin-bottom: .7rem; }
    .body { display: grid; gap: .7rem; min-width: 0; }
    .wide { grid-column: 1 / -1; }
    .pills { display: flex; flex-wrap: wrap; gap: .4rem .6rem; }
    .pill { border-radius: 99px; padding: .1rem .7rem; font-size: .85rem; font-weight: 600; border: 1px solid; }
    .good { color: var(--good); } .bad { color: var(--bad); } .unsure { color: var(--unsure); } .soft { color: var(--soft); }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.2rem, 1fr)); gap: 1rem .75rem; }
    .tile strong { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; line-height: 1.25; }
    .tile span { color: var(--soft); font-size: .85rem; }
    .scroll { overflow: auto; max-height: 26rem; }
    table { border-collapse: collapse; width: 100%; font-size: .88rem; }
    th { text-align: left; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); }
    th, td { padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    th:last-child, td:last-child { padding-right: 0; }
    td { overflow-wrap: anywhere; }
    tr:last-child td, tr.noted td { border-bottom: 0; }
    tr.note td { padding-top: 0; white-space: pre-wrap; }
    tr.less td { color: var(--soft); }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .name { font-weight: 600; }
    .code { font-family: ui-monospace, monospace; font-size: .82rem; }
    .dot { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; border: 1px solid var(--edge);
      margin-right: .35rem; vertical-align: -.08rem; }
    .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; color: var(--soft); align-items: center; }
    input, select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
      border-radius: 8px; padding: .25rem .6rem; max-width: 100%; }
    .bar { height: .7rem; border-radius: 3px; background: var(--bar); min-width: 2px; margin-top: .3rem; }
    .bars { width: 36%; }
    .histogram { display: flex; align-items: flex-end; gap: 3px; height: 5.5rem; }
    .histogram div { flex: 1; background: var(--bar); border-radius: 3px 3px 0 0; min-height: 1px; }
    .bounds { display: flex; gap: 3px; font-size: .68rem; color: var(--soft); }
    .bounds span { flex: 1; text-align: center; min-width: 0; white-space: nowrap; }
    pre { font: .8rem/1.5 ui-monospace, monospace; overflow: auto; max-height: 26rem; white-space: pre-wrap;
      overflow-wrap: anywhere; }
    summary { cursor: pointer; color: var(--soft); }
    #graph { border: 1px solid var(--line); border-radius: 8px; background: var(--paper); min-width: 0; overflow: hidden; }
    #graph p { padding: .8rem; }
    #graph svg { display: block; font: 12px system-ui, sans-serif; }
    #graph text { fill: var(--ink); }
    #graph .band { fill: var(--card); stroke: var(--line); }
    #graph .title { fill: var(--soft); font-weight: 600; paint-order: stroke; stroke: var(--card); stroke-width: 5px; }
    #graph .bean rect { stroke: var(--edge); }
    #graph .dashed rect { stroke-dasharray: 4 3; }
    #graph .line { fill: none; stroke: var(--edge); stroke-width: 1.2; }
    #graph .head { fill: var(--edge); }
    #graph .later .line { stroke-dasharray: 4 3; }
    #graph .dim { opacity: .15; }
    #graph .hot .line { stroke: var(--accent); stroke-width: 2; }
    #graph .hot .head { fill: var(--accent); }
    .s0 rect { fill: var(--s0); } .s1 rect { fill: var(--s1); } .s2 rect { fill: var(--s2); }
    .s3 rect { fill: var(--s3); } .s4 rect { fill: var(--s4); } .s5 rect { fill: var(--s5); }
    .dot.s0 { background: var(--s0); } .dot.s1 { background: var(--s1); } .dot.s2 { background: var(--s2); }
    .dot.s3 { background: var(--s3); } .dot.s4 { background: var(--s4); } .dot.s5 { background: var(--s5); }
    @media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); } }
    /* A row becomes a card: its first cell as the title, the others below it with the titles of their columns. */
    @media (max-width: 34rem) {
      body { padding: 1rem .6rem 2rem; }
      section { padding: .8rem; }
      .scroll { max-height: 32rem; }
      .tiles { grid-template-columns: repeat(auto-fit, minmax(6.2rem, 1fr)); }
      .tile strong { font-size: 1.1rem; }
      .bounds, .histogram { gap: 1px; }
      .bounds { font-size: .56rem; }
      thead, .bars { display: none; }
      table, tbody { display: block; }
      tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(5.4rem, 1fr)); gap: .15rem .8rem;
        padding: .45rem 0; border-bottom: 1px solid var(--line); }
      tr:last-child, tr.noted { border-bottom: 0; }
      th, td { padding: 0; border: 0; min-width: 0; }
      td.number { text-align: left; white-space: normal; }
      td:first-child, td.long { grid-column: 1 / -1; }
      td:empty { display: none; }
      td:not(:first-child)::before { content: attr(data-title); display: block; color: var(--soft); font: .72rem/1.4 system-ui, sans-serif; }
    }

    """#
}
