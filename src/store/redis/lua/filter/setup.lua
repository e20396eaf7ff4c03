--[[
Asks the server for its setup.

KEYS[1]  a key of the filter: it names the server

Reply: text of INFO server, INFO memory and INFO persistence; without those that the caller may not ask for
]]
local info = ''
for _, section in ipairs({ 'server', 'memory', 'persistence' }) do
  local reply = redis.pcall('INFO', section)
  if type(reply) == 'string' then info = info .. reply end
end
return info
