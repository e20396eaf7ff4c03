--[[
Reads all that is stored about a filter, and which server it is that answers, as what.

KEYS[1]  meta

Reply: { run id of the server, its role: master or slave (both '' when it may not be asked), type of meta, field, value, … }
]]
local function ask(section, pattern)
  local info = redis.pcall('INFO', section)
  return type(info) == 'string' and string.match(info, pattern) or ''
end
local reply = { ask('server', 'run_id:(%w+)'), ask('replication', 'role:(%w+)'), redis.call('TYPE', KEYS[1]).ok }
if reply[3] == 'hash' then
  for _, text in ipairs(redis.call('HGETALL', KEYS[1])) do
    reply[#reply + 1] = text
  end
end
return reply
