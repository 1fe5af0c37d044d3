/usr/local/bin/fio --output-format=json fio.job
