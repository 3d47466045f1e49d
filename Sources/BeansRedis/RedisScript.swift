/// The scripts of a session store. The server runs each script in one step.
///
/// Each script takes the key of a session and uses the server's clock, which all nodes share. A session is a hash with
/// the fields `v`, its version; `c`, its creation time; `a`, the last time its expiry was postponed; `m`, its idle
/// limit; `s`, the form of the hash; `b`, the number of bytes of its names and values; `t`, the token of its last
/// change; and, for each value, `d:` with its name: the version that wrote it, a colon, bytes. The optional field `u`
/// lists the changes that had a second attempt, so that their first attempts have no effect any more. Times are in
/// milliseconds. The hash has an expiry from the first moment on.
///
/// A command may arrive after its connection has ended, such as from the buffer of a proxy. Three rules make it
/// harmless. The first argument of each script is its deadline: from then on the script does nothing and replies the
/// error `LATE` with the server's time. An id that has rotated or ended keeps a string without bytes for longer than
/// that, so that no late `create` takes the id. The second attempt of a `save` disables the first one.
///
/// For all scripts, a key that does not exist, has expired, or holds no hash of this form is missing.
enum RedisScript: CaseIterable {
  /// Arguments: `t`, `m`, `b`, then names and bytes. Replies 1, or 0 where another session has the key.
  ///
  /// The commands that give the key its expiry run once before the hash is written. A server that refuses one of them
  /// thus refuses before a key without an expiry exists.
  case create
  /// Arguments: the version that the caller has, and the time after which an expiry is postponed. Replies null where
  /// the session is missing, 1 where the caller has the version, or version, creation, and names and values by turns.
  ///
  /// For lookups that have to postpone the expiry, or whose caller has another version. Plain commands serve the others:
  /// a script takes ten times their time, because it makes a string of each value.
  ///
  /// A server without memory, or a read-only server, refuses to postpone the expiry, and still returns the session.
  case load
  /// Arguments: `t`, the limit of bytes, in a second attempt the version that was read or else nothing, the successor of
  /// that version, and three counts; then as many names with bytes and offsets, names to be removed, and names with
  /// expected versions. The successor and a colon precede the bytes. An offset is the number of bytes that precede the
  /// bytes of the stored value in the version that was read, or nothing.
  /// Replies the new version; or null where the session is missing, an empty array where the outcome of the first
  /// attempt is unknown, an array of names that others have changed, or minus the bytes that the session would have.
  ///
  /// A server hashes each string that a script makes. Where no other has changed the session, the script makes none
  /// from the bytes of a value: it writes the argument, and needs only the length of the old value.
  case save
  /// Keys: the old and the new one. Argument: the time for which the old key stays taken. Replies 1, or null where the
  /// session is missing.
  case rotate
  /// Argument: the time for which the key stays taken. Replies 1.
  case end

  var text: String {
    switch self {
    case .create: Self.common + Self.createText
    case .load: Self.common + Self.loadText
    case .save: Self.common + Self.saveText
    case .rotate: Self.common + Self.rotateText
    case .end: Self.common + Self.endText
    }
  }

  /// The identifier of the form of the hashes.
  static let form = "1"
  static let formBytes = Array(form.utf8)

  /// `HMGET` fails for a key that holds no hash, which is missing, and seldom for another reason, which the second call
  /// reports. Text is passed on as it is where possible, because a conversion of a number takes a quarter of the time of
  /// a command.
  private static let common = """
    local time = redis.call('TIME')
    local now = time[1] .. string.sub('000000' .. time[2], -6, -4)
    local key, deadline = KEYS[1], table.remove(ARGV, 1)
    local present = tonumber(now)
    if present >= tonumber(deadline) then return redis.error_reply('LATE ' .. now) end
    local function find()
      local found = redis.pcall('HMGET', key, 'v', 'a', 'm', 's', 't', 'b', 'c', 'u')
      if found.err then
        if redis.call('TYPE', key).ok == 'hash' then redis.call('HMGET', key, 'v') end
        return nil
      end
      local v, a, m, b, c = tonumber(found[1]), tonumber(found[2]), tonumber(found[3]), tonumber(found[6]), found[7]
      if not (v and a and m and b and c) or found[4] ~= '\(form)' then return nil end
      if present >= a + m then redis.pcall('UNLINK', key) return nil end
      return {v = v, name = found[1], a = a, m = found[3], b = b, c = c, t = found[5], u = found[8] or ''}
    end

    """

  private static let createText = """
    if redis.call('EXISTS', key) == 1 then
      return redis.call('TYPE', key).ok == 'hash' and redis.call('HGET', key, 't') == ARGV[1] and 1 or 0
    end
    redis.call('SET', key, '', 'PX', ARGV[2])
    redis.call('PEXPIRE', key, ARGV[2])
    redis.call('UNLINK', key)
    redis.call('HSET', key, 'v', 1, 'c', now, 'a', now, 'm', ARGV[2], 's', '\(form)', 'b', ARGV[3], 't', ARGV[1])
    redis.call('PEXPIRE', key, ARGV[2])
    for i = 4, #ARGV, 2 do redis.call('HSET', key, 'd:' .. ARGV[i], '1:' .. ARGV[i + 1]) end
    return 1
    """

  private static let loadText = """
    local s = find()
    if not s then return false end
    if present - s.a >= tonumber(ARGV[2]) then
      local added = redis.pcall('PEXPIRE', key, s.m)
      if type(added) == 'number' then redis.pcall('HSET', key, 'a', now) end
    end
    if ARGV[1] == s.name then return 1 end
    local reply = {s.name, s.c}
    local all = redis.call('HGETALL', key)
    for i = 1, #all, 2 do
      if string.sub(all[i], 1, 2) == 'd:' then
        reply[#reply + 1] = string.sub(all[i], 3)
        reply[#reply + 1] = all[i + 1]
      end
    end
    return reply
    """

  private static let saveText = """
    local s = find()
    if not s then return false end
    if ARGV[3] ~= '' then
      local attempts = deadline .. ':' .. ARGV[1]
      for attempt in string.gmatch(s.u, '%S+') do
        if tonumber(string.match(attempt, '^%d+')) >= present - 60000 then attempts = attempts .. ' ' .. attempt end
      end
      redis.call('HSET', key, 'u', attempts)
    elseif string.find(s.u, ARGV[1], 1, true) then
      return {}
    end
    if s.t == ARGV[1] then return s.v end
    if ARGV[3] ~= '' and ARGV[3] ~= s.name then return {} end
    local sets, removals, expected = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
    local v, b = s.v + 1, s.b
    local isNext = v == tonumber(ARGV[4])
    local function written(name)
      local value = redis.call('HGET', key, 'd:' .. name)
      if not value then return 0, 0 end
      local colon = string.find(value, ':', 1, true) or 0
      return tonumber(string.sub(value, 1, colon - 1)) or 0, #name + #value - colon
    end
    local afterSets = 8 + 3 * sets
    local afterRemovals = afterSets + removals
    local conflicts = {}
    for i = afterRemovals, afterRemovals + 2 * expected - 1, 2 do
      local version = written(ARGV[i])
      if version ~= tonumber(ARGV[i + 1]) then conflicts[#conflicts + 1] = ARGV[i] end
    end
    if #conflicts > 0 then return conflicts end
    for i = 8, afterSets - 1, 3 do
      b = b + #ARGV[i] + #ARGV[i + 1] - #ARGV[4] - 1
      if isNext and ARGV[i + 2] ~= '' then
        b = b - #ARGV[i] - redis.call('HSTRLEN', key, 'd:' .. ARGV[i]) + ARGV[i + 2]
      else
        local _, size = written(ARGV[i])
        b = b - size
      end
    end
    for i = afterSets, afterRemovals - 1 do
      local _, size = written(ARGV[i])
      b = b - size
    end
    if b > tonumber(ARGV[2]) then return -b end
    local words = {'HSET', key, 'v', isNext and ARGV[4] or v, 'a', now, 'b', b, 't', ARGV[1]}
    for i = 8, afterSets - 1, 3 do
      if #words > 1000 then
        redis.call(unpack(words))
        words = {'HSET', key}
      end
      words[#words + 1] = 'd:' .. ARGV[i]
      words[#words + 1] = isNext and ARGV[i + 1] or v .. string.sub(ARGV[i + 1], #ARGV[4] + 1)
    end
    redis.call(unpack(words))
    for i = afterSets, afterRemovals - 1 do redis.call('HDEL', key, 'd:' .. ARGV[i]) end
    redis.call('PEXPIRE', key, s.m)
    return v
    """

  /// The script accepts the new id where the old one is missing: an earlier attempt may have rotated the id, since the
  /// new one is random and the caller's own.
  private static let rotateText = """
    if not find() then
      key = KEYS[2]
      return find() and 1 or false
    end
    redis.call('RENAME', KEYS[1], KEYS[2])
    redis.pcall('SET', KEYS[1], '', 'PX', ARGV[1])
    return 1
    """

  private static let endText = """
    if find() then
      redis.call('UNLINK', key)
      redis.pcall('SET', key, '', 'PX', ARGV[1])
    end
    return 1
    """
}
